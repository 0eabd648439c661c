import type { Database, Statement } from './database.ts';

export type PreparedOptions = {
  /** Integers are read as bigint: exact, but slower. Default false. */
  readonly bigints?: boolean;
  /** Rows are arrays in column order: twice as fast to read as objects. Default false. */
  readonly arrays?: boolean;
};

const statements = new WeakMap<Database, Map<string, Statement>>();

/** The statement for `sql` on this connection, compiled at its first use and kept as long as the connection. */
export const prepared = (db: Database, sql: string, options: PreparedOptions = {}): Statement => {
  const { bigints = false, arrays = false } = options;
  const known = statements.get(db) ?? new Map<string, Statement>();
  statements.set(db, known);
  const key = `${bigints ? 1 : 0}${arrays ? 1 : 0}${sql}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const statement = db.prepare(sql);
  statement.setReadBigInts(bigints);
  statement.setReturnArrays(arrays);
  known.set(key, statement);
  return statement;
};
