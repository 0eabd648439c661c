import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, tryLockFile } from './lock-file.ts';

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
const CONTENTS_LOCK_FILE = 'lock-contents.db';
const HOLDER_FILE = 'lock.json';
/** A worker ends a moment after its supervisor, of which the operating system says nothing. */
const WORKER_ENDS_MS = 5_000;

/**
 * Takes the data directory (made, with access for its owner only, when it is not there) for the life of this process, which may
 * open its files. Throws DataDirectoryInUse when it is taken.
 */
export const lockDataDirectory = (directory: string, waitMs = WORKER_ENDS_MS): DirectoryLock => {
  const announced = announceDataDirectory(directory);
  try {
    const contents = lockContents(directory, waitMs);
    return {
      holder: announced.holder,
      release() {
        contents.release();
        announced.release();
      },
    };
  } catch (error) {
    announced.release();
    throw error;
  }
};

/**
 * Takes the data directory without opening its files, which a worker of this process does. `channel` is told to whoever finds the
 * directory taken. Throws DataDirectoryInUse when it is taken.
 *
 * The lock is a write lock on an SQLite file that has no other purpose, held in an open transaction: the operating system
 * drops it with the process, so a stale lock cannot exist. The holder writes itself down in a file beside it, readable
 * while the lock is held and meaningful only then.
 */
export const announceDataDirectory = (directory: string, channel?: OperatorChannel): DirectoryLock => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = tryLockFile(join(directory, LOCK_FILE));
  if (lock === undefined) throw new DataDirectoryInUse(directory, readDirectoryHolder(directory));
  let isHeld = true;
  const holder = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    ...(channel === undefined ? {} : { channel }),
  };
  try {
    writeHolder(directory, holder);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    holder,
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(join(directory, HOLDER_FILE), { force: true });
      lock.release();
    },
  };
};

/**
 * Takes the files of a data directory that this process or its supervisor has taken. A worker whose supervisor was killed may
 * still have them: waits some seconds for its end, and then throws DataDirectoryInUse.
 */
export const lockContents = (directory: string, waitMs = WORKER_ENDS_MS): FileLock => {
  const lock = tryLockFile(join(directory, CONTENTS_LOCK_FILE), waitMs);
  if (lock === undefined) throw new DataDirectoryInUse(directory, undefined);
  return lock;
};

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
