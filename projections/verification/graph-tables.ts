import type { Database } from '../../shared/sqlite/database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { KEPT_COMMANDS } from '../graph/commands.ts';

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

/** The rows of a table that do follow from the log; of other tables all do. */
const FOLLOWING: { readonly [table: string]: string } = {
  meta: "name <> 'accounted'",
  // Older ones are forgotten with some batch or other, whenever there have been enough since the process began.
  commands: KEPT_COMMANDS,
};

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
  const where = FOLLOWING[name] ?? 'true';
  const sql = `SELECT ${columns.join(', ')} FROM ${name} WHERE ${where} ORDER BY ${keys.join(', ')}`;
  return prepared(db, sql, { arrays: true }).iterate() as unknown as IterableIterator<GraphRow>;
}
