import { createRecentValues } from '../../recent-values.ts';
import { PUBLICATION_STATE_FIELD, type Scalar } from '../bool-query.ts';
import { textForm } from '../column.ts';
import { foldText } from '../fold-text.ts';
import type { FieldValues, IndexedRow } from '../read-index.ts';
import type { Place, PlacedScalar } from './document-layout.ts';
import type { StoredValue } from './index-document.ts';
import { publicationRank, storedValue } from './stored-value.ts';
import { textGrams } from './text-grams.ts';

/** A row or component with its place in the document. */
export type HeldRow = {
  readonly key: number;
  readonly fields: FieldValues;
  readonly components: IndexedRow['components'];
};

/** By row, where it was last asked for: both its worlds' documents hold the same columns. */
const texts = new WeakMap<FieldValues, { readonly place: Place; readonly text: string }>();

/** The members of a place that hold the row's own columns, as JSON: `"f":{…}` and what there is of `g`, `w` and `x`. */
export function columnsText(place: Place, fields: FieldValues): string {
  const known = texts.get(fields);
  if (known?.place === place) return known.text;
  const text = makeText(place, fields);
  texts.set(fields, { place, text });
  return text;
}

function makeText(place: Place, fields: FieldValues): string {
  const [f, g, w, x]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const scalar of place.scalars.values()) {
    const { name, text } = scalar;
    const value = fields[name];
    if (value === null || value === undefined) continue;
    f.push(member(name) + JSON.stringify(storedColumn(scalar, value)));
    if (text === 'form') x.push(member(name) + JSON.stringify(textForm(scalar.type, value)));
    if (text !== 'grams' && text !== 'folded') continue;
    const written = String(value);
    const folded = foldText(written);
    g.push(member(name) + gramsText(folded));
    if (text === 'grams' && folded !== written) w.push(member(name) + gramsText(written));
  }
  let columns = `"f":{${f.join()}}`;
  if (g.length > 0) columns += `,"g":{${g.join()}}`;
  if (w.length > 0) columns += `,"w":{${w.join()}}`;
  if (x.length > 0) columns += `,"x":{${x.join()}}`;
  return columns;
}

/** In characters. Draft and published rows mostly have the same texts, and are made one after the other. */
const GRAMS_HELD = 2 ** 22;
const gramsByText = createRecentValues<string, string>(GRAMS_HELD, (grams) => grams.length);
const NEEDS_ESCAPING = /["\\\p{Cc}\p{Cs}]/u;

function gramsText(text: string): string {
  const known = gramsByText.get(text);
  if (known !== undefined) return known;
  const grams = textGrams(text);
  const quoted = NEEDS_ESCAPING.test(text) ? JSON.stringify(grams) : `"${grams}"`;
  gramsByText.set(text, quoted);
  return quoted;
}

const members = new Map<string, string>();

/** `"name":`. There are as many names as attributes and sort paths. */
export function member(name: string): string {
  const known = members.get(name);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(name)}:`;
  members.set(name, text);
  return text;
}

export function storedColumn({ name, fieldType }: PlacedScalar, value: Scalar): StoredValue {
  return name === PUBLICATION_STATE_FIELD ? publicationRank(value) : storedValue(fieldType, value);
}
