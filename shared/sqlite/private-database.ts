import { createPrivateFile, restrictToOwner } from '../private-file.ts';

/**
 * Makes a database and what SQLite keeps beside it readable for their owner only. SQLite gives the files that it makes later the mode of
 * the database. To be called before the database is opened.
 */
export const createPrivateDatabase = (path: string): void => {
  if (path === ':memory:') return;
  createPrivateFile(path);
  for (const suffix of ['-wal', '-shm', '-journal']) restrictToOwner(path + suffix);
};
