import type { Database } from './database.ts';
import { prepared } from './prepared.ts';

/**
 * Runs `work` in one transaction and returns its result. The transaction takes the write lock at once, so data that `work` reads is
 * unchanged when it writes. If `work` throws, nothing is stored and the error is rethrown. `work` must be synchronous; transactions do not
 * nest.
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
    // After some errors (disk full, I/O error), SQLite has already rolled back by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Runs `work`, which only reads, in one transaction, so that all of it sees the same state. This is also cheaper, because each statement
 * outside of a transaction asks the operating system several times for the current state. `work` must be synchronous.
 */
export function reading<T>(db: Database, work: () => T): T {
  prepared(db, 'BEGIN').run();
  try {
    return work();
  } finally {
    if (db.isTransaction) prepared(db, 'COMMIT').run();
  }
}
