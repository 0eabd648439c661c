import { valueAt } from '../map-values.ts';
import { remembered } from '../remembered.ts';
import type { Database, Statement } from './database.ts';

export type PreparedOptions = {
  /** Reads integers as bigint, which is exact but slower. Default false. */
  readonly bigints?: boolean;
  /** Returns rows as arrays in column order, which are twice as fast to read as objects. Default false. */
  readonly arrays?: boolean;
};

/** Statements by options and SQL, so that a lookup builds no new SQL text. */
const statementsOf = remembered((_db: Database): readonly Map<string, Statement>[] => [
  new Map(),
  new Map(),
  new Map(),
  new Map(),
]);

/** Returns the statement for `sql` on this connection. It is compiled at its first use and cached for the life of the connection. */
export function prepared(db: Database, sql: string, options: PreparedOptions = {}): Statement {
  const { bigints = false, arrays = false } = options;
  const known = statementsOf(db)[(bigints ? 2 : 0) + (arrays ? 1 : 0)] as Map<string, Statement>;
  return valueAt(known, sql, () => {
    const statement = db.prepare(sql);
    statement.setReadBigInts(bigints);
    statement.setReturnArrays(arrays);
    return statement;
  });
}
