import { useEffect, useRef } from 'preact/hooks';
import { type Content, html } from './html.ts';

type DialogProps = {
  readonly title: string;
  readonly close: () => void;
  readonly children?: Content;
};

/** A modal dialog of the browser, which keeps the focus inside, closes by Escape and gives the focus back. Its parent shows it while it is open. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return html`<dialog ref=${dialog} class="card" aria-label=${title} onCancel=${(event: Event) => {
    event.preventDefault();
    close();
  }}>
    <div class="row spread"><h2>${title}</h2><button type="button" class="plain" onClick=${close}>Close</button></div>
    ${children}
  </dialog>`;
}
