import { useState } from 'preact/hooks';
import { BLOCK_KINDS, type BlockRow, newRow, pictureRow, withKind, withText } from './block-rows.ts';
import type { Row } from './entry-request.ts';
import { type FieldProps, Group } from './field-parts.ts';
import { FileDialog } from './file-dialog.ts';
import { FileView } from './file-view.ts';
import { html } from './html.ts';
import { Moves, moved } from './list-moves.ts';

/** Blocks: each is a text with marks. They are added, moved and removed. */
export function BlocksField(props: FieldProps<readonly BlockRow[]>) {
  const { value, change, name } = props;
  const [isOpen, setOpen] = useState(false);
  const addPicture = (file: Row) => {
    change([...value, pictureRow(file)]);
    setOpen(false);
  };
  return html`<${Group} props=${props}>
    <details class="quiet"><summary>Marks</summary><p><code>**bold**</code> <code>*italic*</code> <code>__underlined__</code> <code>~~struck~~</code>
      <code>\`code\`</code> <code>[text](https://…)</code>. A backslash before a sign means the sign itself. A line of a list begins with <code>-</code> or <code>1.</code>, two blanks more nest it.</p></details>
    ${value.map(
      (
        row,
        at,
      ) => html`<${Block} key=${row.key} row=${row} label=${`${name} ${at + 1}`} keep=${(next: BlockRow) => change(value.with(at, next))}
      moves=${html`<${Moves} label=${`${name} ${at + 1}`} at=${at} length=${value.length} move=${(to: number) => change(moved(value, at, to))} remove=${() => change(value.toSpliced(at, 1))} />`} />`,
    )}
    <p class="row"><button type="button" aria-label=${`Add a block to ${name}`} onClick=${() => change([...value, newRow('paragraph')])}>Add a block</button>
      <button type="button" aria-label=${`Add a picture to ${name}`} onClick=${() => setOpen(true)}>Add a picture</button></p>
    ${isOpen && html`<${FileDialog} title=${`A picture for ${name}`} kinds=${['images']} choose=${addPicture} close=${() => setOpen(false)} />`}
  <//>`;
}

type BlockProps = {
  readonly row: BlockRow;
  readonly label: string;
  readonly keep: (row: BlockRow) => void;
  readonly moves: unknown;
};

function Block({ row, label, keep, moves }: BlockProps) {
  const { kind, text, node } = row;
  const isText = Object.hasOwn(BLOCK_KINDS, kind);
  return html`<div class="part" role="group" aria-label=${label}>
    <div class="row spread">${
      isText
        ? html`<select aria-label=${`Kind of ${label}`} value=${kind} onChange=${(event: Event) => keep(withKind(row, (event.target as HTMLSelectElement).value))}>
      ${Object.entries(BLOCK_KINDS).map(([each, words]) => html`<option value=${each} selected=${each === kind}>${words}</option>`)}</select>`
        : html`<strong>${kind === 'image' ? 'Picture' : 'Block as JSON'}</strong>`
    }${moves}</div>
    ${
      kind === 'image'
        ? html`<${FileView} file=${(node?.['image'] ?? {}) as Row} />`
        : html`<textarea aria-label=${`Text of ${label}`} rows=${Math.min(12, 1 + text.split('\n').length)} value=${text}
      onInput=${(event: Event) => keep(withText(row, (event.target as HTMLTextAreaElement).value))}></textarea>`
    }
    ${node === undefined && html`<p class="bad" role="alert">This is not the JSON of a block.</p>`}
  </div>`;
}
