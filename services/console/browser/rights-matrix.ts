import { html } from './html.ts';
import type { RightRow } from './server.ts';

type MatrixProps = {
  /** Name for screen readers. */
  readonly label: string;
  readonly rows: readonly RightRow[];
  /** Rights such as `article.find`. */
  readonly allow: readonly string[];
  /** Absent: the matrix is only shown. */
  readonly changed?: (allow: readonly string[]) => void;
};

/** Rights as a table of content types and actions. A right on a type that no longer exists stays as it is. */
export function RightsMatrix({ label, rows, allow, changed }: MatrixProps) {
  const actions = [...new Set(rows.flatMap((row) => row.actions))];
  const set = (rights: readonly string[], isAllowed: boolean) =>
    changed?.(
      isAllowed ? [...new Set([...allow, ...rights])].sort() : allow.filter((each) => !rights.includes(each)),
    );
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
    <table class="matrix">
      <thead><tr><th scope="col">type</th><th scope="col">all</th>${actions.map((action) => html`<th scope="col" key=${action}>${action}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.uid} row=${row} actions=${actions} allow=${allow} set=${changed && set} />`)}</tbody>
    </table>
  </div>`;
}

type RowProps = {
  readonly row: RightRow;
  readonly actions: readonly string[];
  readonly allow: readonly string[];
  readonly set?: (rights: readonly string[], isAllowed: boolean) => void;
};

function Row({ row: { type, uid, actions: own }, actions, allow, set }: RowProps) {
  const rights = own.map((action) => `${type}.${action}`);
  const box = (name: string, of: readonly string[]) => {
    const isAllowed = of.every((right) => allow.includes(right));
    return html`<input type="checkbox" aria-label=${`${type} ${name}`} checked=${isAllowed} disabled=${set === undefined}
      onChange=${() => set?.(of, !isAllowed)} />`;
  };
  return html`<tr>
    <th scope="row" title=${uid}>${type}</th>
    <td>${box('all', rights)}</td>
    ${actions.map((action) => html`<td key=${action}>${(own as readonly string[]).includes(action) && box(action, [`${type}.${action}`])}</td>`)}
  </tr>`;
}
