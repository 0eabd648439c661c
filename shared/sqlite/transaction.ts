import type { Database } from './database.ts';
import { prepared } from './prepared.ts';

/**
 * Runs `work` in one transaction that takes the write lock at once, so that what `work` reads is still true when it
 * writes, and returns its result. If `work` throws, nothing of it is stored and the error is rethrown. `work` must be
 * synchronous; transactions do not nest.
 */
export function transaction<T>(db: Database, work: () => T): T {
  prepared(db, 'BEGIN IMMEDIATE').run();
  try {
    const result = work();
    if (result instanceof Promise)
      throw new TypeError('a transaction is synchronous: its work returned a promise');
    prepared(db, 'COMMIT').run();
    return result;
  } catch (error) {
    // SQLite has already rolled back by itself after some errors (disk full, I/O error).
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Runs `work`, which only reads, in one transaction: all of it sees the same state, and no statement has to determine
 * it. Each single statement asks the operating system several times. `work` must be synchronous.
 */
export function reading<T>(db: Database, work: () => T): T {
  prepared(db, 'BEGIN').run();
  try {
    return work();
  } finally {
    if (db.isTransaction) prepared(db, 'COMMIT').run();
  }
}
