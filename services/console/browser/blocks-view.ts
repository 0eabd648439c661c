import { type BlockNode, childrenOf } from './blocks-text.ts';
import type { Row } from './entry-request.ts';
import { FileView } from './file-view.ts';
import { type Content, html } from './html.ts';

const MARKS = [
  ['bold', 'strong'],
  ['italic', 'em'],
  ['underline', 'u'],
  ['strikethrough', 's'],
  ['code', 'code'],
] as const;

/** Shows blocks as a reader sees them. Texts stay texts: nothing of them becomes markup. */
export function BlocksView({ blocks }: { readonly blocks: unknown }) {
  const nodes = Array.isArray(blocks) ? (blocks as readonly BlockNode[]) : [];
  return html`<div class="prose">${nodes.map(showBlock)}</div>`;
}

function showBlock(node: BlockNode): Content {
  const inside = () => childrenOf(node).map(showInline);
  switch (node?.type) {
    case 'paragraph':
      return html`<p class="whole">${inside()}</p>`;
    case 'heading':
      // The page has headings of its own, so the level is a name only.
      return html`<p class=${`heading level-${Number(node['level'])}`}>${inside()}</p>`;
    case 'quote':
      return html`<blockquote class="whole">${inside()}</blockquote>`;
    case 'code':
      return html`<pre tabindex="0">${inside()}</pre>`;
    case 'list':
      return html`<${node['format'] === 'ordered' ? 'ol' : 'ul'}>${childrenOf(node).map((item) => html`<li>${item.type === 'list' ? showBlock(item) : childrenOf(item).map(showInline)}</li>`)}<//>`;
    case 'image':
      return html`<p><${FileView} file=${(node['image'] ?? {}) as Row} /></p>`;
    default:
      return html`<pre tabindex="0">${JSON.stringify(node, null, 2)}</pre>`;
  }
}

function showInline(node: BlockNode): Content {
  if (node?.type === 'link') {
    const inside = childrenOf(node).map(showInline);
    const url = String(node['url']);
    return isSafe(url)
      ? html`<a href=${url} rel="noreferrer">${inside}</a>`
      : html`<span>${inside} (${url})</span>`;
  }
  return MARKS.reduce<Content>(
    (shown, [mark, tag]) => (node?.[mark] === true ? html`<${tag}>${shown}<//>` : shown),
    String(node?.['text'] ?? ''),
  );
}

/** A link may lead to a page or an address, never run a script. */
function isSafe(url: string): boolean {
  return /^(https?:|mailto:|tel:)/i.test(url) || /^\/(?!\/)/.test(url);
}
