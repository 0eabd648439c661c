import type { Database, Statement } from './database.ts';

export type PreparedOptions = {
  /** Integers are read as bigint: exact, but slower. Default false. */
  readonly bigints?: boolean;
  /** Rows are arrays in column order: twice as fast to read as objects. Default false. */
  readonly arrays?: boolean;
};

/** By options, so that a lookup builds no new SQL text. */
const statements = new WeakMap<Database, readonly Map<string, Statement>[]>();

/** Statement for `sql` on this connection, compiled at its first use and cached for the life of the connection. */
export function prepared(db: Database, sql: string, options: PreparedOptions = {}): Statement {
  const { bigints = false, arrays = false } = options;
  const known = statementsOf(db)[(bigints ? 2 : 0) + (arrays ? 1 : 0)] as Map<string, Statement>;
  const found = known.get(sql);
  if (found !== undefined) return found;
  const statement = db.prepare(sql);
  statement.setReadBigInts(bigints);
  statement.setReturnArrays(arrays);
  known.set(sql, statement);
  return statement;
}

function statementsOf(db: Database): readonly Map<string, Statement>[] {
  const known = statements.get(db);
  if (known !== undefined) return known;
  const fresh = [new Map(), new Map(), new Map(), new Map()];
  statements.set(db, fresh);
  return fresh;
}
