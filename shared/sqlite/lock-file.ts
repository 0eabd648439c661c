import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy, isDamaged } from './failures.ts';
import { cannotOpen } from './open-database.ts';
import { createPrivateDatabase } from './private-database.ts';

export type FileLock = { release(): void };

/** Connections that hold locks. Garbage collection would close a connection, and so release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks a file, which it creates, for the life of this process. Returns undefined if another process holds the lock for at least `waitMs`.
 * The operating system releases the lock when the process ends for any reason.
 */
export function tryLockFile(path: string, waitMs = 0): FileLock | undefined {
  // A journal in a file would take space, which a full disk does not have.
  return lockFile(path, waitMs, (db) => db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE'));
}

/** Locks a file that other processes may share. While one process shares it, no other process can lock it alone. */
export function tryShareFile(path: string, waitMs = 0): FileLock | undefined {
  return lockFile(path, waitMs, (db) => {
    db.exec('BEGIN');
    // A transaction that has read keeps its lock on the file until it ends.
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
  });
}

/** Returns whether another process has locked a file with `tryLockFile`. Changes nothing. */
export function isFileLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw unusable(path, error);
  } finally {
    db?.close();
  }
}

function openLock(path: string, waitMs: number): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: waitMs });
  } catch (error) {
    throw cannotOpen(path, error as Error);
  }
}

function lockFile(path: string, waitMs: number, take: (db: DatabaseSync) => void): FileLock | undefined {
  createPrivateDatabase(path);
  const db = openLock(path, waitMs);
  try {
    take(db);
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw unusable(path, error);
  }
  held.add(db);
  return {
    release() {
      if (held.delete(db)) db.close();
    },
  };
}

function unusable(path: string, error: unknown): Error {
  if (!isDamaged(error)) return cannotOpen(path, error as Error);
  return new Error(`the lock ${path} is damaged: remove it when no process uses its folder`, {
    cause: error,
  });
}
