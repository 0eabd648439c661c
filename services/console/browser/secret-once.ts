import { useState } from 'preact/hooks';
import { html } from './html.ts';

type SecretProps = {
  /** Sentence about what it is for. */
  readonly use: string;
  readonly secret: string;
  readonly close: () => void;
};

/** A new secret. The server does not store it, so the page shows it until its reader closes it, and never again. */
export function SecretOnce({ use, secret, close }: SecretProps) {
  const [isCopied, setCopied] = useState(false);
  // Outside of https and localhost a browser has no clipboard: the text can be selected.
  const copy = () =>
    navigator.clipboard?.writeText(secret).then(
      () => setCopied(true),
      () => {},
    );
  return html`<div class="secret" role="status">
    <p><strong>This is shown once.</strong> ${use}</p>
    <pre tabindex="0">${secret}</pre>
    <div class="row">
      <button type="button" class="primary" onClick=${() => void copy()}>${isCopied ? 'Copied' : 'Copy'}</button>
      <button type="button" onClick=${close}>I have stored it</button>
    </div>
  </div>`;
}
