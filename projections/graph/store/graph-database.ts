import { createPrivateFile } from '../../../shared/private-file.ts';
import { isDamaged } from '../../../shared/sqlite/failures.ts';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Statement,
} from '../../../shared/sqlite/open-database.ts';
import { prepared } from '../../../shared/sqlite/prepared.ts';
import { transaction } from '../../../shared/sqlite/transaction.ts';
import { openWriteBehind, type WriteBehind } from '../../../shared/sqlite/write-behind.ts';
import { damageMark } from './generation-files.ts';
import { GRAPH_MIGRATIONS } from './graph-schema.ts';

export type SqlValue = null | number | bigint | string | Uint8Array;
/** A result row as an array in column order. */
export type SqlRow = readonly SqlValue[];

/** The graph's file: every statement is prepared once and answers arrays. */
export type GraphDatabase = {
  readonly connection: Database;
  /** Returns the number of rows that changed, 0 where it is written behind. */
  run(sql: string, ...values: SqlValue[]): number;
  /** Sees everything that was written behind before this transaction. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: SqlValue[]): readonly SqlRow[];
  /**
   * Runs `work` in one transaction. `behind`: another thread executes its statements, after this returns and in order,
   * so it cannot read its own writes. Only a graph that is being built writes behind.
   */
  transaction(work: () => void, behind: boolean): void;
  /**
   * Waits until everything written behind is in the file, for other connections too. Throws if it could not be written.
   */
  settle(): void;
  close(): void;
};

/** Keys are spread over the whole file: with SQLite's 2 MB every other link would read a page. */
const CACHE_KIBIBYTES = 64 * 1024;

/** 32 MB. Keys are spread over the whole file: the more transactions between two checkpoints, the fewer pages each of them moves. */
const CHECKPOINT_PAGES = 8_000;

/** 128 MB: no other process reads a graph that is being built, and a page that is written often is moved once. */
const BUILDING_CHECKPOINT_PAGES = 32_000;

/**
 * A power loss may cost the graph its last transactions: it then follows the log from its checkpoint. One that is being built may be
 * damaged by it, and is not read before it was brought to the disk.
 */
export function openGraphDatabase(file: string, building = false): GraphDatabase {
  const options: DatabaseOptions = {
    migrations: GRAPH_MIGRATIONS,
    cacheKibibytes: CACHE_KIBIBYTES,
    ...(building
      ? { durability: 'none', checkpointPages: BUILDING_CHECKPOINT_PAGES }
      : { durability: 'normal', checkpointPages: CHECKPOINT_PAGES }),
  };
  const connection = openDatabase(file, options);
  const writer = building ? openWriteBehind(file, options) : undefined;
  const statements = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const created = prepared(connection, sql, { arrays: true });
    statements.set(sql, created);
    return created;
  };
  /** Returns the error. A damaged file is marked first, so that the next start does not use it (see replaceUnusable). */
  const marked = (error: unknown): unknown => {
    if (isDamaged(error)) createPrivateFile(damageMark(file));
    return error;
  };
  /** Receives statements that another thread executes. */
  let behind: WriteBehind | undefined;
  let isBehind = false;
  const settle = (): void => {
    if (isBehind) writer?.settle();
    isBehind = false;
  };
  return {
    connection,
    run(sql, ...values) {
      if (behind !== undefined) {
        behind.add(sql, values);
        return 0;
      }
      try {
        return statement(sql).run(...values).changes as number;
      } catch (error) {
        throw marked(error);
      }
    },
    get(sql, ...values) {
      settle();
      try {
        return statement(sql).get(...values) as SqlRow | undefined;
      } catch (error) {
        throw marked(error);
      }
    },
    all(sql, ...values) {
      settle();
      try {
        return statement(sql).all(...values) as unknown as readonly SqlRow[];
      } catch (error) {
        throw marked(error);
      }
    },
    transaction(work, isWrittenBehind) {
      if (!isWrittenBehind || writer === undefined) {
        settle();
        try {
          transaction(connection, work);
        } catch (error) {
          throw marked(error);
        }
        return;
      }
      behind = writer;
      try {
        work();
      } finally {
        behind = undefined;
      }
      writer.commit();
      isBehind = true;
    },
    settle,
    close() {
      try {
        writer?.close();
      } finally {
        connection.close();
      }
    },
  };
}
