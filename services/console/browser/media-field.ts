import { useState } from 'preact/hooks';
import type { Row } from './entry-request.ts';
import { type FieldProps, Group } from './field-parts.ts';
import { FileDialog } from './file-dialog.ts';
import { FileView } from './file-view.ts';
import { isList, type Linked } from './form-values.ts';
import { html } from './html.ts';
import { Moves, moved } from './list-moves.ts';

/** Files of an attribute: chosen ones, with a dialog that finds or uploads others. */
export function MediaField(props: FieldProps<readonly Linked[]>) {
  const { attribute, value, change, name } = props;
  const [isOpen, setOpen] = useState(false);
  const many = isList(attribute);
  const add = (file: Row) => {
    const link = { documentId: String(file['documentId']), row: file };
    change(many ? [...value.filter(({ documentId }) => documentId !== link.documentId), link] : [link]);
    setOpen(false);
  };
  return html`<${Group} props=${props}>
    ${
      value.length > 0 &&
      html`<ul class="linked files">${value.map(
        ({ documentId, row }, at) => html`<li key=${documentId}><${FileView} file=${row} />
      <${Moves} label=${String(row['name'])} at=${at} length=${value.length} move=${(to: number) => change(moved(value, at, to))} remove=${() => change(value.toSpliced(at, 1))} /></li>`,
      )}</ul>`
    }
    <p class="row"><button type="button" aria-label=${`Choose or upload a file for ${name}`} onClick=${() => setOpen(true)}>Choose or upload</button></p>
    ${isOpen && html`<${FileDialog} title=${`A file for ${name}`} kinds=${attribute.allowedTypes ?? []} choose=${add} close=${() => setOpen(false)} />`}
  <//>`;
}
