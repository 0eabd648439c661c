import type { Row } from './entry-request.ts';
import { html } from './html.ts';

/** A file: its picture if it is one of this server, and its name. */
export function FileView({ file }: { readonly file: Row }) {
  const small = thumbnailOf(file) ?? String(file['url'] ?? '');
  // A picture of another host is not loaded: the page sends nothing elsewhere.
  const isOwn = /^\/(?![/\\])/.test(small) && String(file['mime']).startsWith('image/');
  return html`<span class="picture">${isOwn && html`<img src=${small} alt=${String(file['alternativeText'] ?? '')} width="96" />`} <span>${String(file['name'])}</span></span>`;
}

function thumbnailOf({ formats }: Row): string | undefined {
  const { thumbnail } = (formats ?? {}) as { readonly thumbnail?: { readonly url?: string } };
  return thumbnail?.url;
}
