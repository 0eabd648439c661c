import type { Database } from '../../shared/sqlite/database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';

/** A table of a graph's file that follows from the log. */
export type GraphTable = {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly keys: readonly string[];
};

export type GraphValue = null | number | string | Uint8Array;
export type GraphRow = readonly GraphValue[];

/** What an index is behind with is no part of what the log adds up to. */
const OTHER_TABLES = ['stale', 'parked'];
const OTHER_META = "name <> 'accounted'";

export function graphTables(db: Database): readonly GraphTable[] {
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return names.flatMap(({ name }) => {
    if (OTHER_TABLES.includes(String(name)) || String(name).startsWith('sqlite_')) return [];
    const columns = db.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(String(name));
    const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a['pk']) - Number(b['pk']));
    const nameOf = (column: (typeof columns)[number]) => String(column['name']);
    return [{ name: String(name), columns: columns.map(nameOf), keys: keys.map(nameOf) }];
  });
}

/** In order of the key, one at a time. */
export function rowsOfTable(db: Database, { name, columns, keys }: GraphTable): IterableIterator<GraphRow> {
  const where = name === 'meta' ? `WHERE ${OTHER_META}` : '';
  const sql = `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${keys.join(', ')}`;
  return prepared(db, sql, { arrays: true }).iterate() as unknown as IterableIterator<GraphRow>;
}
