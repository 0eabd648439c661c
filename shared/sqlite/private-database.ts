import { createPrivateFile, restrictToOwner } from '../private-file.ts';

/**
 * Makes a database and SQLite's files next to it readable only for their owner. Call it before the database is opened. SQLite gives files
 * that it creates later the mode of the database.
 */
export function createPrivateDatabase(path: string): void {
  if (path === ':memory:') return;
  createPrivateFile(path);
  for (const suffix of ['-wal', '-shm', '-journal']) restrictToOwner(path + suffix);
}
