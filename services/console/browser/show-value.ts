import { BlocksView } from './blocks-view.ts';
import { pathName, titleOf } from './content-model.ts';
import type { Row } from './entry-request.ts';
import { FileView } from './file-view.ts';
import { shorten } from './format.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './route.ts';
import type { ShownAttribute } from './server.ts';
import { types } from './session.ts';
import { showWhole } from './values.ts';

/** Shows the value of an attribute: relations as links, pictures of this server, and everything else as a text. */
export function showValue(attribute: ShownAttribute | undefined, value: unknown): Content {
  if (value === null || value === undefined) return html`<span class="quiet">none</span>`;
  if (attribute?.type === 'relation') return linksOf(attribute, value);
  if (attribute?.type === 'media') return picturesOf(value);
  if (attribute?.type === 'blocks') return html`<${BlocksView} blocks=${value} />`;
  return html`<div class="whole">${showWhole(value)}</div>`;
}

function linksOf({ target }: ShownAttribute, value: unknown): Content {
  const type = types.value.find(({ uid }) => uid === target);
  const rows = [value].flat() as readonly Row[];
  if (rows.length === 0) return html`<span class="quiet">none</span>`;
  return html`<ul class="links">${rows.map(
    (row) =>
      html`<li>${
        type === undefined || type.plugin !== undefined
          ? html`<code>${String(row['documentId'])}</code>`
          : html`
    <a href=${linkTo(['content', pathName(type), String(row['documentId'])], { locale: typeof row['locale'] === 'string' ? row['locale'] : undefined })}>${shorten(titleOf(type, row), 60)}</a>`
      }</li>`,
  )}</ul>`;
}

function picturesOf(value: unknown): Content {
  const files = [value].flat() as readonly Row[];
  return html`<ul class="links">${files.map((file) => html`<li>${file['name'] === undefined ? html`<code>${String(file['documentId'])}</code>` : html`<${FileView} file=${file} />`}</li>`)}</ul>`;
}
