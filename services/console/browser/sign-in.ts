import { useRef } from 'preact/hooks';
import { html } from './html.ts';
import { enter, refusal, rights } from './session.ts';

/** The form for a token: all that a caller without rights sees. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const value = field.current?.value.trim() ?? '';
    if (value !== '') void enter(value);
  };
  return html`<main class="sign-in">
    <form class="card" onSubmit=${submit}>
      <h1>Varve</h1>
      <label for="token">Access token</label>
      <input id="token" ref=${field} type="password" autocomplete="off" spellcheck=${false} required
        aria-describedby="token-help" autofocus />
      ${refusal.value !== null && html`<p class="bad" role="alert">${refusal.value}</p>`}
      <button class="primary" type="submit" disabled=${rights.value === 'asking'}>Sign in</button>
      <p id="token-help" class="quiet">
        A token with full access sees everything. One that may read content sees the content.
        This tab keeps the token until it is closed. The command <code>varve token</code> makes one.
      </p>
    </form>
  </main>`;
}
