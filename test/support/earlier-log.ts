import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateDatabase } from '../../shared/sqlite/private-database.ts';

const FOLDER = join(import.meta.dirname, 'earlier-log');

/** A log that the last release without hash chains wrote, and the answers of that release. */
export type EarlierAnswers = {
  readonly token: string;
  readonly accessKey: string;
  /** Answers by path. `anonymous <path>` is a request without the token. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly body: string }>>;
};

export const readEarlierAnswers = (): EarlierAnswers =>
  JSON.parse(readFileSync(join(FOLDER, 'answers.json'), 'utf8'));

/** The statement with which that release inserts an event. */
export const EARLIER_INSERT =
  'INSERT INTO event (position, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)';

/**
 * Writes the log to a file, followed by `more` events. Returns the connection that a process of the earlier release
 * would have open.
 */
export function createEarlierLog(file: string, more = 0): DatabaseSync {
  createPrivateDatabase(file);
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(readFileSync(join(FOLDER, 'log.sql'), 'utf8'));
  db.exec(`INSERT INTO event
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${more})
    SELECT (SELECT max(position) FROM event) + i, 'varve.note-more', i - 1,
      printf('00000000-0000-4000-8000-%012x', i), 'note', json_object('text', hex(zeroblob(150)), 'n', i),
      '{"schemaVersion":1,"at":"2026-03-04T05:06:07.089Z","epoch":4}'
    FROM n WHERE ${more} > 0`);
  return db;
}
