import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateDatabase } from './private-database.ts';

/**
 * Writes a consistent copy of a database, readable only for its owner, even while other processes write to it. `to` appears only when it is
 * complete. An interrupted attempt leaves `<to>.part`, which the next one replaces. `change`: SQL that runs on the copy before it appears.
 * Blocks the thread until the copy is written.
 */
export function copyDatabase(from: string, to: string, change = ''): void {
  if (existsSync(to)) throw new Error(`${to} exists already`);
  const part = `${to}.part`;
  rmSync(part, { force: true });
  createPrivateDatabase(part);
  try {
    inDatabase(
      new DatabaseSync(from, { readOnly: true }),
      (db) => void db.prepare('VACUUM INTO ?').run(part),
    );
  } catch (error) {
    throw new Error(`cannot copy the database ${from} to ${to}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (change !== '') inDatabase(new DatabaseSync(part), (db) => db.exec(change));
  flush(part);
  renameSync(part, to);
}

function inDatabase(db: DatabaseSync, work: (db: DatabaseSync) => void): void {
  try {
    work(db);
  } finally {
    db.close();
  }
}

/** Flushes a file to the disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

const SUFFIXES = ['-wal', '-shm', '-journal', '-damaged', '-building', '-lock', '.part', '.part-journal'];

/** Removes a database and the files next to it: SQLite's own, marks and locks. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', ...SUFFIXES]) rmSync(`${path}${suffix}`, { force: true });
}
