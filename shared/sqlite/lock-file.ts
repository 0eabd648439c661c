import { DatabaseSync } from 'node:sqlite';
import { createPrivateDatabase } from './private-database.ts';

export type FileLock = { release(): void };

const SQLITE_BUSY = 5;

/**
 * Takes a file (made when it is not there) for the life of this process; undefined when another has it, for `waitMs` at least. The
 * operating system gives it back when the process ends, however it ends.
 */
export const tryLockFile = (path: string, waitMs = 0): FileLock | undefined => {
  createPrivateDatabase(path);
  const db = new DatabaseSync(path, { timeout: waitMs });
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return {
    release() {
      if (db.isOpen) db.close();
    },
  };
};
