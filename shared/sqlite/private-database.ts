import { createPrivateFile, restrictToOwner } from '../private-file.ts';

/**
 * Makes a database and SQLite's files next to it readable for their owner only. SQLite gives later files the mode of
 * the database. Call it before the database is opened.
 */
export function createPrivateDatabase(path: string): void {
  if (path === ':memory:') return;
  createPrivateFile(path);
  for (const suffix of ['-wal', '-shm', '-journal']) restrictToOwner(path + suffix);
}
