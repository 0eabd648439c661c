import type { Database } from '../../shared/sqlite/database.ts';
import type { ComparisonMeter } from './compare-items.ts';

/** Tables of a graph's file whose rows decide reads, writes and the change feed. `names` has the numbers that all other tables use. */
export const COMPARED_TABLES = [
  'names',
  'entries',
  'rows',
  'links',
  'ids',
  'unique_values',
  'pending_edits',
  'kept_links',
  'definitions',
  'sequences',
  'commands',
  'journal',
] as const;
export type ComparedTable = (typeof COMPARED_TABLES)[number];

const ROWS_AT_ONCE = 20_000;

/**
 * Returns the tables with the same rows in two files: that of `db`, and one that `db` has attached as `other`. SQLite compares stored
 * values several times faster than items can be made of them.
 */
export async function findEqualTables(
  db: Database,
  other: string,
  meter: ComparisonMeter,
): Promise<ReadonlySet<ComparedTable>> {
  const equal = new Set<ComparedTable>();
  for (const table of COMPARED_TABLES) {
    if (await isEqual(db, { table, other }, meter)) equal.add(table);
  }
  return equal;
}

type TablePair = { readonly table: ComparedTable; readonly other: string };

async function isEqual(db: Database, { table, other }: TablePair, meter: ComparisonMeter): Promise<boolean> {
  const columns = namesOf(db, `SELECT name FROM pragma_table_info('${table}', 'main')`);
  const others = namesOf(db, `SELECT name FROM pragma_table_info('${table}', '${other}')`);
  if (columns.join() !== others.join() || countOf(db, 'main', table) !== countOf(db, other, table))
    return false;
  // Both tables have the same number of rows, and no two rows share a key. So the tables are equal if each row equals the one with its key.
  const key = namesOf(db, `SELECT name FROM pragma_table_info('${table}', 'main') WHERE pk > 0`);
  const each = (names: readonly string[], operator: string) =>
    names.map((name) => `b.${name} ${operator} a.${name}`).join(' AND ');
  const rows = db.prepare(
    `SELECT ${each(columns, 'IS')} FROM main.${table} AS a LEFT JOIN ${other}.${table} AS b ON ${each(key, '=')}`,
  );
  rows.setReturnArrays(true);
  let [compared, started] = [0, performance.now()];
  for (const row of rows.iterate() as unknown as Iterable<readonly unknown[]>) {
    if (row[0] !== 1) return false;
    if (++compared < ROWS_AT_ONCE) continue;
    await meter.worked(2 * compared, performance.now() - started);
    [compared, started] = [0, performance.now()];
  }
  await meter.worked(2 * compared, performance.now() - started);
  return true;
}

function namesOf(db: Database, sql: string): readonly string[] {
  return db
    .prepare(sql)
    .all()
    .map(({ name }) => String(name));
}

function countOf(db: Database, file: string, table: ComparedTable): unknown {
  return db.prepare(`SELECT count(*) AS count FROM ${file}.${table}`).get()?.['count'];
}
