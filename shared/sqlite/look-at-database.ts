import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { fileProblem } from '../file-problem.ts';
import type { Database } from './database.ts';

/** A database that was opened without writing anything to its folder. */
export type LookedAt = {
  readonly connection: Database;
  /** Throws an error with a message if another process changed the file in a way that could make the reads wrong. */
  close(): void;
};

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a database for reading. Neither the file nor the files next to it change, also if a killed process has left a write-ahead log.
 * `seesLater`: later commits of other processes are visible too. For that SQLite may create its two files next to the database. Throws if the
 * database does not exist or cannot be read.
 */
export function lookAtDatabase(path: string, seesLater = false): LookedAt {
  const isAlone = !seesLater && !existsSync(`${path}-wal`);
  const before = isAlone ? stateOf(path) : undefined;
  let connection: Database | undefined;
  try {
    connection = connect(path, isAlone);
    // The first read shows whether the file is a database.
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    connection?.close();
    throw cannotRead(path, error as Error);
  }
  const opened = connection;
  return {
    connection: opened,
    close() {
      opened.close();
      if (before !== undefined && stateOf(path) !== before)
        throw new Error(`${path} was changed while it was read, because a server has started: try again`);
    },
  };
}

/** Returns the address under which SQLite opens a database that `lookAtDatabase` has opened, also for ATTACH. */
export function lookAddress(path: string): string {
  return addressOf(path, !existsSync(`${path}-wal`));
}

/** Returns an error that names the file, and says what to do if this process cannot use it. */
function cannotRead(path: string, error: Error): Error {
  const problem = fileProblem(path);
  const text = problem === undefined ? error.message : `${error.message}: ${problem}`;
  return new Error(`cannot read the database ${path}: ${text}`, { cause: error });
}

/**
 * A database without a write-ahead log is complete in its file. Otherwise SQLite reads the log without touching its index, `-shm`. If there
 * is no index, for example in a copy of the files, SQLite has to make one.
 */
function connect(path: string, isAlone: boolean): Database {
  const options = { readOnly: true, timeout: BUSY_TIMEOUT_MS };
  if (!isAlone && !existsSync(`${path}-shm`)) return new DatabaseSync(path, options);
  return new DatabaseSync(addressOf(path, isAlone), options);
}

function addressOf(path: string, isAlone: boolean): string {
  const address = pathToFileURL(path);
  address.searchParams.set(isAlone ? 'immutable' : 'readonly_shm', '1');
  return address.href;
}

/** Returns a text that changes when another process writes to the file itself. */
function stateOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino} ${found.size} ${found.mtimeNs}`;
}
