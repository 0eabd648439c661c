import { DatabaseSync } from 'node:sqlite';

/** Takes the lock that a commit to an SQLite log holds. Returns the function that releases it, or undefined if another process has it. */
export function lockLog(eventStore: string): (() => void) | undefined {
  const db = new DatabaseSync(eventStore.replace(/^sqlite:/, ''), { timeout: 0 });
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    db.close();
    const SQLITE_BUSY = 5;
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return () => {
    db.exec('ROLLBACK');
    db.close();
  };
}
