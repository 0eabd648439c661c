import type { Database } from '../../shared/sqlite/database.ts';
import { type GraphRow, type GraphTable, type GraphValue, graphTables, rowsOfTable } from './graph-tables.ts';

/** A row of a graph's table that another graph, made from the same events, does not have or has otherwise. */
export type GraphDifference = {
  readonly table: string;
  /** By column of the primary key. */
  readonly key: Readonly<Record<string, GraphValue>>;
  /** `missing`, `unexpected`, or the columns that differ. */
  readonly differing: readonly string[];
};

/**
 * Compares the files of two graphs at one position, table by table in order of their keys, holding a row of each at a time. What
 * `found` has and `expected` has not is `unexpected`.
 */
export function* compareGraphs(expected: Database, found: Database): Generator<GraphDifference> {
  for (const table of graphTables(expected)) yield* compareTables(table, expected, found);
}

function* compareTables(table: GraphTable, expected: Database, found: Database): Generator<GraphDifference> {
  const wanted = rowsOfTable(expected, table);
  const held = rowsOfTable(found, table);
  let left = wanted.next();
  let right = held.next();
  while (left.done !== true || right.done !== true) {
    const order = compareRows(table, left, right);
    const row = (order > 0 ? right.value : left.value) as GraphRow;
    if (order < 0) yield difference(table, row, ['missing']);
    if (order > 0) yield difference(table, row, ['unexpected']);
    if (order === 0) {
      const differing = table.columns.filter((_, at) => !isSame(row[at], (right.value as GraphRow)[at]));
      if (differing.length > 0) yield difference(table, row, differing);
    }
    if (order <= 0) left = wanted.next();
    if (order >= 0) right = held.next();
  }
}

/** By the key's columns, as SQLite orders them. */
function compareRows(
  table: GraphTable,
  left: IteratorResult<GraphRow>,
  right: IteratorResult<GraphRow>,
): number {
  if (left.done === true) return 1;
  if (right.done === true) return -1;
  for (const key of table.keys) {
    const at = table.columns.indexOf(key);
    const order = compareValues(left.value[at] ?? null, right.value[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: GraphValue, b: GraphValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a === b ? 0 : Number(a) < Number(b) ? -1 : 1;
}

function isSame(a: GraphValue | undefined, b: GraphValue | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

function difference(
  { name, columns, keys }: GraphTable,
  row: GraphRow,
  differing: readonly string[],
): GraphDifference {
  const key = Object.fromEntries(keys.map((column) => [column, row[columns.indexOf(column)] ?? null]));
  return { table: name, key, differing };
}
