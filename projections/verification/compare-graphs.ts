import type { Database } from '../../shared/sqlite/database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';

/** A row of a graph's table that another graph, made from the same events, does not have or has otherwise. */
export type GraphDifference = {
  readonly table: string;
  /** By column of the primary key. */
  readonly key: Readonly<Record<string, SqlValue>>;
  /** `missing`, `unexpected`, or the columns that differ. */
  readonly differing: readonly string[];
};

type SqlValue = null | number | bigint | string | Uint8Array;
type Row = readonly SqlValue[];

/** What an index is behind with is no part of what the log adds up to. */
const OTHER_TABLES = ['stale', 'parked'];
const OTHER_META = "name <> 'accounted'";

/**
 * Compares the files of two graphs at one position, table by table in order of their keys, holding a row of each at a time. What
 * `found` has and `expected` has not is `unexpected`.
 */
export function* compareGraphs(expected: Database, found: Database): Generator<GraphDifference> {
  for (const table of tablesOf(expected)) yield* compareTables(table, expected, found);
}

type Table = { readonly name: string; readonly columns: readonly string[]; readonly keys: readonly string[] };

function tablesOf(db: Database): readonly Table[] {
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return names.flatMap(({ name }) => {
    if (OTHER_TABLES.includes(String(name)) || String(name).startsWith('sqlite_')) return [];
    const columns = db.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(String(name));
    const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a['pk']) - Number(b['pk']));
    return [
      {
        name: String(name),
        columns: columns.map((column) => String(column['name'])),
        keys: keys.map((column) => String(column['name'])),
      },
    ];
  });
}

function* compareTables(table: Table, expected: Database, found: Database): Generator<GraphDifference> {
  const wanted = rowsOf(expected, table);
  const held = rowsOf(found, table);
  let left = wanted.next();
  let right = held.next();
  while (left.done !== true || right.done !== true) {
    const order = compareRows(table, left, right);
    const row = (order > 0 ? right.value : left.value) as Row;
    if (order < 0) yield difference(table, row, ['missing']);
    if (order > 0) yield difference(table, row, ['unexpected']);
    if (order === 0) {
      const differing = table.columns.filter((_, at) => !isSame(row[at], (right.value as Row)[at]));
      if (differing.length > 0) yield difference(table, row, differing);
    }
    if (order <= 0) left = wanted.next();
    if (order >= 0) right = held.next();
  }
}

function rowsOf(db: Database, { name, columns, keys }: Table): Iterator<Row> {
  const where = name === 'meta' ? `WHERE ${OTHER_META}` : '';
  const sql = `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${keys.join(', ')}`;
  return prepared(db, sql, { arrays: true }).iterate() as unknown as Iterator<Row>;
}

/** By the key's columns, as SQLite orders them. */
function compareRows(table: Table, left: IteratorResult<Row>, right: IteratorResult<Row>): number {
  if (left.done === true) return 1;
  if (right.done === true) return -1;
  for (const key of table.keys) {
    const at = table.columns.indexOf(key);
    const order = compareValues(left.value[at] ?? null, right.value[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: SqlValue, b: SqlValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a === b ? 0 : Number(a) < Number(b) ? -1 : 1;
}

function isSame(a: SqlValue | undefined, b: SqlValue | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

function difference({ name, columns, keys }: Table, row: Row, differing: readonly string[]): GraphDifference {
  const key = Object.fromEntries(keys.map((column) => [column, row[columns.indexOf(column)] ?? null]));
  return { table: name, key, differing };
}
