import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateDatabase } from './private-database.ts';

/** Who has a data directory, as its holder wrote it down. */
export type DirectoryHolder = {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Absent: it takes no requests of operators. */
  readonly channel?: OperatorChannel;
};

/** Where a server takes operators' requests. */
export type OperatorChannel = {
  /** A loopback address: `http://127.0.0.1:40123`. */
  readonly address: string;
  /** Whoever may read the directory may ask for anything: every request carries it. */
  readonly secret: string;
};

export type DirectoryLock = {
  readonly holder: DirectoryHolder;
  /** Gives the directory up; again is harmless. A killed process's lock is released by the operating system. */
  release(): void;
};

/** The directory belongs to another process (or to another lock of this one). */
export class DataDirectoryInUse extends Error {
  readonly holder: DirectoryHolder | undefined;

  constructor(directory: string, holder: DirectoryHolder | undefined) {
    const who =
      holder === undefined ? 'another process' : `process ${holder.pid}, started at ${holder.startedAt}`;
    super(`the data directory ${directory} is in use by ${who}: stop that process or use another directory`);
    this.name = 'DataDirectoryInUse';
    this.holder = holder;
  }
}

const LOCK_FILE = 'lock.db';
const HOLDER_FILE = 'lock.json';
const SQLITE_BUSY = 5;

/**
 * Takes the data directory (made, with access for its owner only, when it is not there) for the life of this process.
 * Throws DataDirectoryInUse when it is taken.
 *
 * The lock is a write lock on an SQLite file that has no other purpose, held in an open transaction: the operating system
 * drops it with the process, so a stale lock cannot exist. The holder writes itself down in a file beside it, readable
 * while the lock is held and meaningful only then. `channel` is told there to whoever finds the directory taken.
 */
export const lockDataDirectory = (directory: string, channel?: OperatorChannel): DirectoryLock => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, LOCK_FILE);
  createPrivateDatabase(file);
  const db = new DatabaseSync(file);
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new DataDirectoryInUse(directory, readDirectoryHolder(directory));
  }
  const holder = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    ...(channel === undefined ? {} : { channel }),
  };
  writeHolder(directory, holder);
  return {
    holder,
    release() {
      if (!db.isOpen) return;
      rmSync(join(directory, HOLDER_FILE), { force: true });
      db.close();
    },
  };
};

const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === SQLITE_BUSY;

/** By rename, so that nobody reads half a file. */
const writeHolder = (directory: string, holder: DirectoryHolder): void => {
  const file = join(directory, HOLDER_FILE);
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};

/** Who has the directory, or had it when it was killed; undefined when nobody has. */
export const readDirectoryHolder = (directory: string): DirectoryHolder | undefined => {
  try {
    return JSON.parse(readFileSync(join(directory, HOLDER_FILE), 'utf8')) as DirectoryHolder;
  } catch {
    // The holder is just starting: it has the lock and has not written itself down yet.
    return undefined;
  }
};
