import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../defined.ts';
import { withAdvice } from '../file-problem.ts';
import { makeFolder } from '../make-folder.ts';
import { type FileLock, isFileLocked, tryLockFile, tryShareFile } from './lock-file.ts';

/** Holder of a data directory, as it recorded itself. */
export type DirectoryHolder = {
  readonly pid: number;
  /** ISO 8601 time of the start. */
  readonly startedAt: string;
  /** Absent: the holder accepts no requests of operators. */
  readonly channel?: OperatorChannel;
};

/** Address where a server accepts operators' requests. */
export type OperatorChannel = {
  /** Loopback address, such as `http://127.0.0.1:40123`. */
  readonly address: string;
  /** Secret that every request carries. A user who may read the directory may make any request. */
  readonly secret: string;
  /** Process of the server. Absent: the server is of a release that sends no signs of life during an operation. */
  readonly pid?: number;
};

export type DirectoryLock = {
  readonly holder: DirectoryHolder;
  /** Releases the directory. Further calls do nothing. The operating system releases the lock of a killed process. */
  release(): void;
};

/** Code of DataDirectoryInUse if the holder accepts no requests: it is a command, or a process that is just starting or ending. */
export const HELD_BY_COMMAND = 'HELD_BY_COMMAND';

/** Error for a directory that another process (or another lock of this process) has locked. */
export class DataDirectoryInUse extends Error {
  readonly holder: DirectoryHolder | undefined;
  readonly code: typeof HELD_BY_COMMAND | undefined;

  constructor(directory: string, holder: DirectoryHolder | undefined) {
    const who =
      holder === undefined ? 'another process' : `process ${holder.pid}, started at ${holder.startedAt}`;
    super(`the data directory ${directory} is in use by ${who}: stop that process or use another directory`);
    this.name = 'DataDirectoryInUse';
    this.holder = holder;
    this.code = holder?.channel === undefined ? HELD_BY_COMMAND : undefined;
  }
}

const LOCK_FILE = 'lock.db';
const CONTENTS_LOCK_FILE = 'lock-contents.db';
const HOLDER_FILE = 'lock.json';
/** Milliseconds after which the holder looks whether somebody has removed its file. */
const LOOK_EVERY_MS = 1_000;
/** Milliseconds to wait for a worker, which ends shortly after its supervisor. The operating system does not report its end. */
const WORKER_ENDS_MS = 5_000;

/**
 * Locks the data directory for the life of this process, which may then open its files. Creates the directory with access only for its
 * owner. Throws DataDirectoryInUse if it is locked.
 */
export function lockDataDirectory(directory: string, waitMs = WORKER_ENDS_MS): DirectoryLock {
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
}

/**
 * Locks the data directory without opening its files, which a worker of this process does. A process that finds the directory locked can
 * read `channel`. Throws DataDirectoryInUse if it is locked.
 *
 * The lock is a write lock on an SQLite file that has no other purpose, held in an open transaction. The operating system releases it with
 * the process, so a stale lock cannot exist. The holder records itself in a file next to it, which is valid only while the lock is held. It
 * writes the file again if somebody removes it: commands find the server by this file.
 */
export function announceDataDirectory(directory: string, channel?: OperatorChannel): DirectoryLock {
  const lock = lockFirst(directory);
  if (lock === undefined) throw new DataDirectoryInUse(directory, readDirectoryHolder(directory));
  let isHeld = true;
  const holder = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    ...defined({ channel }),
  };
  try {
    writeHolder(directory, holder);
  } catch (error) {
    lock.release();
    throw withAdvice(error);
  }
  const keeping = setInterval(() => keepHolder(directory, holder), LOOK_EVERY_MS).unref();
  return {
    holder,
    release() {
      if (!isHeld) return;
      isHeld = false;
      clearInterval(keeping);
      rmSync(join(directory, HOLDER_FILE), { force: true });
      lock.release();
    },
  };
}

/** Returns whether a process has locked the data directory. Changes nothing. */
export function isDirectoryLocked(directory: string): boolean {
  return isFileLocked(join(directory, LOCK_FILE));
}

function lockFirst(directory: string): FileLock | undefined {
  try {
    makeFolder(directory);
    return tryLockFile(join(directory, LOCK_FILE));
  } catch (error) {
    throw withAdvice(error);
  }
}

/**
 * Locks the files of a data directory that this process or its supervisor has locked. A worker of a killed supervisor may still hold them.
 * Waits some seconds for the end of that worker, then throws DataDirectoryInUse.
 */
export function lockContents(directory: string, waitMs = WORKER_ENDS_MS): FileLock {
  const lock = tryLockFile(join(directory, CONTENTS_LOCK_FILE), waitMs);
  if (lock === undefined) throw new DataDirectoryInUse(directory, undefined);
  return lock;
}

/**
 * Shares the contents' lock among the workers of one supervisor (see lockContents). `isFirst`: no other worker of this supervisor has the
 * files open. A process that still has them open is then the worker of a killed supervisor.
 */
export function shareContents(directory: string, isFirst: boolean, waitMs = WORKER_ENDS_MS): FileLock {
  if (isFirst) lockContents(directory, waitMs).release();
  const lock = tryShareFile(join(directory, CONTENTS_LOCK_FILE), waitMs);
  if (lock === undefined) throw new DataDirectoryInUse(directory, undefined);
  return lock;
}

/** Writes the holder's file by rename, so that no reader sees a part of it. */
function writeHolder(directory: string, holder: DirectoryHolder): void {
  const file = join(directory, HOLDER_FILE);
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function keepHolder(directory: string, holder: DirectoryHolder): void {
  if (existsSync(join(directory, HOLDER_FILE))) return;
  try {
    writeHolder(directory, holder);
  } catch {
    // The disk is full, or the directory is gone: tried again.
  }
}

/** Returns the holder of the directory, or its last holder if that was killed; undefined if there is none. */
export function readDirectoryHolder(directory: string): DirectoryHolder | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, HOLDER_FILE), 'utf8')) as DirectoryHolder;
  } catch {
    // The holder is just starting: it has the lock and has not recorded itself yet.
    return undefined;
  }
}
