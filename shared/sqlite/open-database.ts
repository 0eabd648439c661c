import { DatabaseSync } from 'node:sqlite';
import { fileProblem } from '../file-problem.ts';
import type { Database } from './database.ts';
import { type Migration, migrate } from './migrate.ts';
import { createPrivateDatabase } from './private-database.ts';

export type { Database, Statement } from './database.ts';

export type DatabaseOptions = {
  /**
   * `full`: a committed transaction survives kill -9 and power loss (the log). `normal`: it survives kill -9. After a power loss the file
   * is intact but may lack the last transactions. Use it for files that can be rebuilt. `none`: it survives kill -9, but a power loss may
   * damage the file. Use it for files that are being made.
   */
  readonly durability: 'full' | 'normal' | 'none';
  /** Migration n (from 0) changes the file from `user_version` n to n + 1. Add new ones only at the end. */
  readonly migrations: readonly Migration[];
  /** Statements after the migrations, at each open. They change only what a release without them ignores, such as an index. */
  readonly afterMigrations?: string;
  /** Size of the page cache in memory. Default: SQLite's 2 MB. */
  readonly cacheKibibytes?: number;
  /** Pages of the write-ahead log between two checkpoints, which move them into the database. Default: 16 MB. */
  readonly checkpointPages?: number;
  /** Milliseconds that a statement waits for a lock of another connection. It blocks the thread. Default: 5 s. */
  readonly waitMs?: number;
};

type ConnectOptions = Omit<DatabaseOptions, 'migrations' | 'afterMigrations'>;

const BUSY_TIMEOUT_MS = 5_000;
const SYNCHRONOUS = { full: 'FULL', normal: 'NORMAL', none: 'OFF' } as const;
/** 16 MB between checkpoints. Random keys touch the same pages repeatedly, and a checkpoint writes each page once. */
const CHECKPOINT_PAGES = 4_000;
const WAL_FILE_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Opens the file or creates it. It is readable only for its owner, in WAL mode, with foreign keys enforced and its schema up to date.
 * Several processes may have one file open: a writer waits up to 5 s for another's transaction, or `waitMs` once the file is open. Throws
 * an error that names the path if the file is not a database, cannot be opened, or was written by a newer version.
 */
export function openDatabase(
  path: string,
  { migrations, afterMigrations, ...options }: DatabaseOptions,
): Database {
  return openWith(path, options, (db) => {
    migrate(db, migrations);
    if (afterMigrations !== undefined) db.exec(afterMigrations);
  });
}

/** Opens a database without migrations. */
export function connectDatabase(path: string, options: ConnectOptions): Database {
  return openWith(path, options, () => undefined);
}

function openWith(path: string, options: ConnectOptions, prepare: (db: Database) => void): Database {
  let db: Database | undefined;
  try {
    createPrivateDatabase(path);
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    db.exec(`PRAGMA synchronous = ${SYNCHRONOUS[options.durability]}`);
    useWriteAheadLog(db);
    db.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages ?? CHECKPOINT_PAGES}`);
    if (options.cacheKibibytes !== undefined) db.exec(`PRAGMA cache_size = -${options.cacheKibibytes}`);
    db.exec(`PRAGMA journal_size_limit = ${WAL_FILE_LIMIT_BYTES}`);
    prepare(db);
    if (options.waitMs !== undefined) db.exec(`PRAGMA busy_timeout = ${options.waitMs}`);
    return db;
  } catch (error) {
    db?.close();
    throw cannotOpen(path, error as Error);
  }
}

/** Returns an error that names the file, and says what to do if this process cannot use it. */
export function cannotOpen(path: string, error: Error): Error {
  const problem = fileProblem(path);
  const text = problem === undefined ? error.message : `${error.message}: ${problem}`;
  return new Error(`cannot open the database ${path}: ${text}`, { cause: error });
}

function useWriteAheadLog(db: Database): void {
  const answer = db.prepare('PRAGMA journal_mode = WAL').get();
  const mode = answer?.['journal_mode'];
  if (mode !== 'wal' && mode !== 'memory') {
    throw new Error(
      `its file system does not support write-ahead logging (journal mode stayed ${String(mode)})`,
    );
  }
}
