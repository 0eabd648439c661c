import { useState } from 'preact/hooks';
import { token } from './api.ts';
import { html } from './html.ts';
import { type Shown, sendLines } from './send-lines.ts';

type HowProps = { readonly request: Shown; readonly command?: string; readonly what?: string };

/** Shows how to send a request without the page. `what`: its purpose in words. `command`: the command of `varve` that does the same. */
export function HowToSend({ request, command, what = 'send it' }: HowProps) {
  const lines = [
    ...sendLines(location.origin, request, token.value !== null),
    ...(command === undefined ? [] : [{ name: 'varve', text: command }]),
  ];
  return html`<details class="send">
    <summary>How to ${what}</summary>
    ${lines.map(({ name, text }) => html`<${Copyable} key=${name} name=${name} text=${text} />`)}
  </details>`;
}

function Copyable({ name, text }: { readonly name: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  // Outside of https and localhost a browser has no clipboard: the text can be selected.
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  return html`<figure>
    <figcaption>${name} <button type="button" class="plain" onClick=${() => void copy()} aria-label=${`Copy for ${name}`}>${isCopied ? 'copied' : 'copy'}</button></figcaption>
    <pre tabindex="0">${text}</pre>
  </figure>`;
}
