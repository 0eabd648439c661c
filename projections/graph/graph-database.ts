import { type Database, openDatabase, type Statement } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { GRAPH_MIGRATIONS } from './graph-schema.ts';

export type SqlValue = null | number | bigint | string | Uint8Array;
/** A result row as an array in column order. */
export type SqlRow = readonly SqlValue[];

/** The graph's connection: every statement is prepared once and answers arrays. */
export type GraphDatabase = {
  readonly connection: Database;
  /** Returns the number of rows that changed. */
  run(sql: string, ...values: SqlValue[]): number;
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: SqlValue[]): readonly SqlRow[];
};

/** Keys are spread over the whole file: with SQLite's 2 MB every other link would read a page. */
const CACHE_KIBIBYTES = 64 * 1024;

/** 128 MB: while a graph is being built nobody else reads it, and a page that is written often is moved once. */
const BUILDING_CHECKPOINT_PAGES = 32_000;

/** A power loss may cost the graph its last transactions: it then follows the log from its checkpoint. */
export function openGraphDatabase(file: string, building = false): GraphDatabase {
  const connection = openDatabase(file, { durability: 'normal', migrations: GRAPH_MIGRATIONS });
  connection.exec(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
  if (building) connection.exec(`PRAGMA wal_autocheckpoint = ${BUILDING_CHECKPOINT_PAGES}`);
  const statements = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const created = prepared(connection, sql, { arrays: true });
    statements.set(sql, created);
    return created;
  };
  return {
    connection,
    run: (sql, ...values) => statement(sql).run(...values).changes as number,
    get: (sql, ...values) => statement(sql).get(...values) as SqlRow | undefined,
    all: (sql, ...values) => statement(sql).all(...values) as unknown as readonly SqlRow[],
  };
}
