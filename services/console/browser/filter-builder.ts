import { useState } from 'preact/hooks';
import { attributesAt, insideOf } from './content-model.ts';
import { type FilterRow, FLAGS, filterQuery, OPERATOR_WORDS, parseFilterRows } from './filter-rows.ts';
import { html } from './html.ts';
import { change, route } from './route.ts';
import type { Type } from './server.ts';

/** Conditions that all have to match, through relations and components. The URL has them; a pasted filter is read into rows. */
export function FilterBuilder({ type }: { readonly type: Type }) {
  const present = route.value.query.get('filter') ?? '';
  const rows = parseFilterRows(present) ?? [];
  const [pasted, setPasted] = useState('');
  const [problem, setProblem] = useState('');
  const keep = (next: readonly FilterRow[]) => change({ filter: textOf(next), page: undefined });
  const paste = () => {
    const found = parseFilterRows(pasted);
    const reason =
      found === undefined ? 'These rows cannot express $or, $not and groups: open the request in Query.' : '';
    setProblem(found?.length === 0 ? 'The text has no filters[…].' : reason);
    if (found !== undefined && found.length > 0) keep(found);
  };
  return html`<details class="filter" open=${rows.length > 0}>
    <summary>Filter${rows.length > 0 ? ` (${rows.length})` : ''}</summary>
    ${rows.map(
      (row, i) => html`<${Row} key=${i} type=${type} row=${row} number=${i + 1}
      keep=${(next: FilterRow) => keep(rows.with(i, next))} remove=${() => keep(rows.toSpliced(i, 1))} />`,
    )}
    <p class="row"><button type="button" onClick=${() => keep([...rows, firstRow(type)])}>Add a condition</button></p>
    <p class="row"><input aria-label="URL or query string with a filter" placeholder="Paste a URL with filters" value=${pasted}
      onInput=${(event: Event) => setPasted((event.target as HTMLInputElement).value)} />
      <button type="button" onClick=${paste}>Read it</button></p>
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
  </details>`;
}

function textOf(rows: readonly FilterRow[]): string {
  return filterQuery(rows)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function firstRow(type: Type): FilterRow {
  const name = Object.keys(type.schema.attributes).find((each) => !isDeep(type, [each])) ?? 'documentId';
  return { path: [name], operator: '$notNull', value: '' };
}

function isDeep(type: Type, path: readonly string[]): boolean {
  const attribute = attributesAt(type, path.slice(0, -1))[path.at(-1) ?? ''];
  return attribute !== undefined && insideOf(attribute) !== undefined;
}

type RowProps = {
  readonly type: Type;
  readonly row: FilterRow;
  readonly number: number;
  readonly keep: (row: FilterRow) => void;
  readonly remove: () => void;
};

function Row({ type, row, number, keep, remove }: RowProps) {
  const { path, operator, value } = row;
  const choose = (depth: number, name: string) =>
    keep({ ...row, path: completed(type, [...path.slice(0, depth), name]) });
  return html`<fieldset class="row condition">
    <legend class="hidden">Condition ${number}</legend>
    ${path.map(
      (name, depth) => html`<select key=${depth} aria-label=${`Attribute ${depth + 1}`} value=${name}
      onChange=${(event: Event) => choose(depth, (event.target as HTMLSelectElement).value)}>
      ${namesAt(type, path.slice(0, depth)).map((each) => html`<option value=${each} selected=${each === name}>${each}</option>`)}</select>`,
    )}
    <select aria-label="Operator" value=${operator} onChange=${(event: Event) => keep({ ...row, operator: (event.target as HTMLSelectElement).value })}>
      ${Object.entries(OPERATOR_WORDS).map(([each, words]) => html`<option value=${each} selected=${each === operator}>${words}</option>`)}</select>
    ${!FLAGS.includes(operator) && html`<input aria-label="Value" value=${value} onChange=${(event: Event) => keep({ ...row, value: (event.target as HTMLInputElement).value })} />`}
    <button type="button" class="plain" onClick=${remove} aria-label=${`Remove condition ${number}`}>remove</button>
  </fieldset>`;
}

/** Returns the names that a filter can have at a path. Zones and pictures have no conditions of this form. */
function namesAt(type: Type, path: readonly string[]): readonly string[] {
  return Object.entries(attributesAt(type, path))
    .filter(([, attribute]) => !['dynamiczone', 'media', 'json', 'blocks'].includes(attribute.type))
    .map(([name]) => name);
}

/** Continues a path that ends at a relation or a component to one of its values. */
function completed(type: Type, path: readonly string[]): readonly string[] {
  if (!isDeep(type, path)) return path;
  const inside = Object.entries(attributesAt(type, path));
  const [first] =
    inside.find(([, attribute]) => attribute.type === 'string') ??
    inside.find(([, each]) => insideOf(each) === undefined) ??
    [];
  return first === undefined ? path : [...path, first];
}
