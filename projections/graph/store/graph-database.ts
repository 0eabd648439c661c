import { createPrivateFile } from '../../../shared/private-file.ts';
import { isDamaged } from '../../../shared/sqlite/failures.ts';
import { lookAtDatabase } from '../../../shared/sqlite/look-at-database.ts';
import { requireCurrentSchema } from '../../../shared/sqlite/migrate.ts';
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
  /** Returns the number of changed rows; 0 if another thread runs the statement later. */
  run(sql: string, ...values: SqlValue[]): number;
  /** Reads a row. It sees everything that was written behind before this transaction. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: SqlValue[]): readonly SqlRow[];
  /** Number that the file keeps under a name; undefined: none. */
  meta(name: string): number | undefined;
  setMeta(name: string, value: number | bigint | string): void;
  /**
   * Runs `work` in one transaction. `behind`: another thread executes its statements, after this returns and in order, so it cannot read
   * its own writes. Only a graph that is being built writes behind.
   */
  transaction(work: () => void, behind: boolean): void;
  /**
   * Waits until everything that was written behind is in the file, where other connections see it too. Throws if it could not be written.
   */
  settle(): void;
  close(): void;
};

/** Keys are spread over the whole file. With SQLite's default of 2 MB, every second link would read a page. */
const CACHE_KIBIBYTES = 64 * 1024;

/** 32 MB. Keys are spread over the whole file. The more transactions between two checkpoints, the fewer pages each of them moves. */
const CHECKPOINT_PAGES = 8_000;

/** 128 MB. No other process reads a graph that is being built, and a page that is written often is moved once. */
const BUILDING_CHECKPOINT_PAGES = 32_000;

/**
 * After a power loss the graph may lack its last transactions: it then continues from its checkpoint in the log. A graph that is being
 * built may be damaged, so no process reads it before it is synced to the disk.
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
  return graphDatabase({
    connection,
    writer,
    // The next start does not use a damaged file (see replaceUnusable).
    damaged: () => createPrivateFile(damageMark(file)),
    close: () => connection.close(),
  });
}

/** Opens the file for reading, and changes nothing. Throws a message if it has the format of an earlier release, or is damaged. */
export function lookAtGraphDatabase(file: string): GraphDatabase {
  const { connection, close } = lookAtDatabase(file);
  requireCurrentSchema(file, connection, GRAPH_MIGRATIONS.length);
  return graphDatabase({ connection, writer: undefined, damaged: () => undefined, close });
}

type OpenedGraph = {
  readonly connection: Database;
  readonly writer: WriteBehind | undefined;
  /** Called when SQLite finds the file damaged. */
  readonly damaged: () => void;
  readonly close: () => void;
};

function graphDatabase({ connection, writer, damaged, close }: OpenedGraph): GraphDatabase {
  const statement = (sql: string): Statement => prepared(connection, sql, { arrays: true });
  const inFile = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      if (isDamaged(error)) damaged();
      throw error;
    }
  };
  /** Takes the statements that another thread executes. */
  let behind: WriteBehind | undefined;
  let isBehind = false;
  const settle = (): void => {
    if (isBehind) writer?.settle();
    isBehind = false;
  };
  const run: GraphDatabase['run'] = (sql, ...values) => {
    if (behind !== undefined) {
      behind.add(sql, values);
      return 0;
    }
    return inFile(() => statement(sql).run(...values).changes as number);
  };
  const get: GraphDatabase['get'] = (sql, ...values) => {
    settle();
    return inFile(() => statement(sql).get(...values) as SqlRow | undefined);
  };
  return {
    connection,
    run,
    get,
    all(sql, ...values) {
      settle();
      return inFile(() => statement(sql).all(...values) as unknown as readonly SqlRow[]);
    },
    meta: (name) => get('SELECT value FROM meta WHERE name = ?', name)?.[0] as number | undefined,
    setMeta: (name, value) => void run('INSERT OR REPLACE INTO meta VALUES (?, ?)', name, value),
    transaction(work, isWrittenBehind) {
      if (!isWrittenBehind || writer === undefined) {
        settle();
        inFile(() => transaction(connection, work));
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
        close();
      }
    },
  };
}
