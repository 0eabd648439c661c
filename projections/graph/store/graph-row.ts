import { valuesAtPath } from '../../../shared/document/unique-values.ts';
import type { GraphDatabase, SqlRow } from './graph-database.ts';
import type { RowFacts, Values } from './present-row.ts';
import { DRAFT, type VersionNumber, versionOfKey } from './row-keys.ts';
import type { TypeView } from './type-view.ts';

/** A row that is changed in place during a batch, and written at its end. */
export type GraphRow = {
  readonly key: number;
  id: number;
  createdAt: string;
  updatedAt: string;
  publishedAt: string | null;
  /** Position of the last edit; for a published row of its publication. */
  position: number;
  /** Scalars and stored components by attribute; null values are absent. */
  values: Values;
  /** Unique values as stored: each once. */
  uniqueValues: ReadonlyMap<string, UniqueValue>;
};

/** A value that no other entry of the locale may have. `number`: the number of its path. */
type UniqueValue = { readonly number: number; readonly text: string };

/** Columns read for a row. A source costs half as much to read as text, and nearly all of them are parsed. */
export const ROW_COLUMNS = 'key, type, position, CAST(source AS TEXT), hidden, components';
const ROWS_OF_ENTRY = `SELECT ${ROW_COLUMNS} FROM rows WHERE key BETWEEN ? AND ?`;
const WRITE_ROW = `INSERT OR REPLACE INTO rows (key, type, position, source, hidden, components)
  VALUES (?, ?, ?, CAST(? AS BLOB), ?, ?)`;

/** The source of a stored row. */
export function sourceText(row: SqlRow): string {
  return row[3] as string;
}

/** The source of a stored row, parsed. */
export function parsedSource(row: SqlRow): RowFacts & Values {
  return JSON.parse(sourceText(row)) as RowFacts & Values;
}

function readRow(view: TypeView, row: SqlRow): GraphRow {
  const { id, documentId, createdAt, updatedAt, publishedAt, locale, ...values } = parsedSource(row);
  const key = row[0] as number;
  const whole = Object.assign(values, ...partsOf(row)) as Values;
  return {
    key,
    id,
    createdAt,
    updatedAt,
    publishedAt,
    position: row[2] as number,
    values: whole,
    uniqueValues: uniqueValues(view, versionOfKey(key), whole),
  };
}

/**
 * Reads the rows of an entry from the file, in the order of their versions. There are at most a draft and a published row, or one row of a
 * type without drafts.
 */
export function rowsOfEntry(db: GraphDatabase, view: TypeView, entry: number): GraphRow[] {
  return db.all(ROWS_OF_ENTRY, entry * 4, entry * 4 + 2).map((row) => readRow(view, row));
}

/** Writes a row: public scalars as its source, private ones and components separately. Returns the source. */
export function writeRow(db: GraphDatabase, view: TypeView, facts: RowFacts, row: GraphRow): string {
  const source = view.presenter.source(facts, row.values);
  const hidden = pickJson(view.hidden, row.values);
  const components = pickJson(view.bearerNames, row.values);
  db.run(WRITE_ROW, row.key, view.number, row.position, source, hidden, components);
  return source;
}

const STORED_ROW = `SELECT ${ROW_COLUMNS} FROM rows WHERE key = ?`;

/** Returns the names of the columns and component attributes in which a row differs from the stored row; undefined if none is stored. */
export function changedColumns(
  db: GraphDatabase,
  facts: RowFacts,
  { key, values }: GraphRow,
): ReadonlySet<string> | undefined {
  const stored = db.get(STORED_ROW, key);
  if (stored === undefined) return undefined;
  const before = Object.assign(parsedSource(stored), ...partsOf(stored)) as Values;
  const after: Values = { ...values, ...facts };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return new Set([...names].filter((name) => jsonOf(before[name]) !== jsonOf(after[name])));
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** Returns the values of a stored row that its source does not have: private ones and components. */
function partsOf(row: SqlRow): readonly Values[] {
  return [row[4], row[5]].flatMap((part) => (part === null ? [] : [JSON.parse(part as string) as Values]));
}

/** JSON of the named values that are not null; null if all are null. */
function pickJson(names: readonly string[], values: Values): string | null {
  let picked: Record<string, unknown> | undefined;
  for (const name of names) {
    const value = values[name];
    if (value === null || value === undefined) continue;
    picked ??= {};
    picked[name] = value;
  }
  return picked === undefined ? null : JSON.stringify(picked);
}

const NO_VALUES: GraphRow['uniqueValues'] = new Map();

/** Unique values that a row reserves against other documents: drafts reserve none. */
function uniqueValues(view: TypeView, version: VersionNumber, values: Values): GraphRow['uniqueValues'] {
  if (version === DRAFT || view.unique.length === 0) return NO_VALUES;
  const found = new Map<string, UniqueValue>();
  for (const { number, place } of view.unique) {
    for (const { text } of valuesAtPath(place, values)) found.set(`${number} ${text}`, { number, text });
  }
  return found;
}

const DELETE_VALUE = 'DELETE FROM unique_values WHERE attribute = ? AND value = ? AND entry = ?';
const WRITE_VALUE = 'INSERT OR REPLACE INTO unique_values VALUES (?, ?, ?)';

/** Updates the stored unique values of a row (`row` undefined: it was removed). */
export function writeUniqueValues(
  db: GraphDatabase,
  { id: entry, view }: { readonly id: number; readonly view: TypeView },
  before: GraphRow['uniqueValues'],
  row: GraphRow | undefined,
): GraphRow['uniqueValues'] {
  const after = row === undefined ? NO_VALUES : uniqueValues(view, versionOfKey(row.key), row.values);
  for (const [key, { number, text }] of before) {
    if (!after.has(key)) db.run(DELETE_VALUE, number, text, entry);
  }
  for (const [key, { number, text }] of after) {
    if (!before.has(key)) db.run(WRITE_VALUE, number, text, entry);
  }
  return after;
}
