import { PUBLICATION_STATE_FIELD, type Scalar } from '../../bool-query.ts';
import { textForm } from '../../column.ts';
import { foldText } from '../../fold-text.ts';
import type { FieldValues, IndexedRow } from '../../read-index.ts';
import type { Place, PlacedScalar } from '../layout/document-layout.ts';
import type { StoredValue } from '../layout/index-document.ts';
import { type ByteSink, createByteSink, putBytes, takeWritten, writeText } from './byte-sink.ts';
import { publicationRank, storedValue } from './stored-value.ts';
import { writeGrams } from './text-grams.ts';

/** A row or component, as a node of the document. */
export type RowNode = {
  readonly key: number;
  readonly fields: FieldValues;
  readonly components: IndexedRow['components'];
};

/** Values of a row or component, and the node that they belong to. */
export type PlacedColumns = { readonly place: Pick<Place, 'scalars'>; readonly fields: FieldValues };

/** Writes the members of an object that have the own columns of its nodes: `"f":{…}` and, if there are any text forms, `"x":[…]`. */
export function writeColumns(sink: ByteSink, nodes: readonly PlacedColumns[]): void {
  let [f, x] = ['', ''];
  for (const { place, fields } of nodes) {
    for (const scalar of place.scalars.values()) {
      const value = fields[scalar.name];
      if (value === null || value === undefined) continue;
      const { member } = scalar;
      f += `${f === '' ? '' : ','}${member}${jsonOf(storedColumn(scalar, value))}`;
      // The text form of a number, date or boolean needs no escapes.
      if (scalar.text === 'form')
        x += `${x === '' ? '' : ','}"${formTerm(scalar, textForm(scalar.type, value))}"`;
    }
  }
  writeText(sink, x === '' ? `"f":{${f}}` : `"f":{${f}},"x":[${x}]`);
}

/** Returns the term for the text form of a column, or for its beginning. Columns of a node share the field `x`. */
export function formTerm({ field }: Pick<PlacedScalar, 'field'>, form: string): string {
  return `${field}:${form}`;
}

/** Writes the grams of nodes' texts after other members: `"g":{…}` for the folded texts, and `"w":{…}` for texts that folding changes. */
export function writeTexts(sink: ByteSink, nodes: readonly PlacedColumns[]): void {
  let g = 0;
  const asWritten: (readonly [PlacedScalar, string])[] = [];
  for (const { place, fields } of nodes) {
    for (const scalar of place.scalars.values()) {
      const text = textOf(scalar, fields);
      if (text === undefined) continue;
      writeText(sink, (g++ === 0 ? ',"g":{' : ',') + scalar.member);
      const { folded, grams } = foldedGrams(scalar, text);
      putBytes(sink, grams);
      if (scalar.text === 'grams' && folded !== text) asWritten.push([scalar, text]);
    }
  }
  if (g === 0) return;
  for (const [at, [scalar, text]] of asWritten.entries()) {
    writeText(sink, (at === 0 ? '},"w":{' : ',') + scalar.member);
    putBytes(sink, writtenGrams(scalar, text));
  }
  writeText(sink, '}');
}

function textOf({ name, text }: PlacedScalar, fields: FieldValues): string | undefined {
  if (text !== 'grams' && text !== 'folded') return undefined;
  const value = fields[name];
  return value === null || value === undefined ? undefined : String(value);
}

/** Last text of a node. It is cached because draft and published rows are written one after the other and usually have the same text. */
type LastText = {
  readonly text: string;
  readonly folded: string;
  readonly grams: Buffer;
  written: Buffer | undefined;
};

const lastTexts = new WeakMap<PlacedScalar, LastText>();
const scratch = createByteSink();

function foldedGrams(scalar: PlacedScalar, text: string): LastText {
  const last = lastTexts.get(scalar);
  if (last?.text === text) return last;
  const folded = foldText(text);
  const made = { text, folded, grams: gramsOf(folded), written: undefined };
  lastTexts.set(scalar, made);
  return made;
}

/** Returns the grams of the last text of `foldedGrams`. */
function writtenGrams(scalar: PlacedScalar, text: string): Buffer {
  const last = foldedGrams(scalar, text);
  last.written ??= gramsOf(text);
  return last.written;
}

function gramsOf(text: string): Buffer {
  writeGrams(scratch, text);
  return takeWritten(scratch);
}

/** Returns a value in the form of its field in Elasticsearch. `$publication` is a number, so that states sort by rank. */
export function storedColumn({ name, fieldType }: PlacedScalar, value: Scalar): StoredValue {
  return name === PUBLICATION_STATE_FIELD ? publicationRank(value) : storedValue(fieldType, value);
}

/** Returns the JSON of a value. Numbers here are finite. */
export function jsonOf(value: StoredValue): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
