import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { removeDatabase } from './copy-database.ts';
import type { Database } from './database.ts';
import { isDamagedAtOpen } from './failures.ts';

/**
 * Renames a damaged database to `<name>.damaged`, so that a new one can be made. Returns whether it did. `tables`: tables that the database
 * has since it was made; of each the first row is read. Call it only if no process has the file open.
 */
export function replaceDamaged(file: string, tables: readonly string[]): boolean {
  if (!existsSync(file) || !isUnreadable(file, tables)) return false;
  setAside(file);
  return true;
}

/** Renames a database to `<name>.damaged`, and removes the files next to it. */
export function setAside(file: string): void {
  renameSync(file, `${file}.damaged`);
  removeDatabase(file);
}

function isUnreadable(file: string, tables: readonly string[]): boolean {
  let db: Database | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    const version = db.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version !== 0) for (const table of tables) db.prepare(`SELECT * FROM ${table} LIMIT 1`).get();
    return false;
  } catch (error) {
    // The process that opens the file reports other errors.
    return isDamagedAtOpen(error);
  } finally {
    db?.close();
  }
}
