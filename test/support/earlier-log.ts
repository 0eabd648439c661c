import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateDatabase } from '../../shared/sqlite/private-database.ts';

const FOLDER = join(import.meta.dirname, 'earlier-log');

/** A log that the release before hash chains wrote, with what that release answered from it. */
export type EarlierAnswers = {
  readonly token: string;
  readonly accessKey: string;
  /** Answers by path; those of `anonymous <path>` are for requests without the token. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly body: string }>>;
};

export const readEarlierAnswers = (): EarlierAnswers =>
  JSON.parse(readFileSync(join(FOLDER, 'answers.json'), 'utf8'));

/** Statement of that release that inserts an event. */
export const EARLIER_INSERT =
  'INSERT INTO event (position, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)';

/**
 * Writes the log to a file, with more events behind its own, and returns the connection that the earlier release has
 * open.
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
