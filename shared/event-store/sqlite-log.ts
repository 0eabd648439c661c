import type { Database } from '../sqlite/database.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { prepared } from '../sqlite/prepared.ts';
import { type EventRow, MAX_INT64 } from './event-codec.ts';

/** The log's file: its schema and every statement that reads it. No read outlasts the call it is made in. */

const MIGRATIONS = [
  `CREATE TABLE event (
     position INTEGER PRIMARY KEY,
     stream   TEXT    NOT NULL,
     revision INTEGER NOT NULL,
     id       TEXT    NOT NULL,
     type     TEXT    NOT NULL,
     data     TEXT    NOT NULL,
     metadata TEXT    NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX event_by_stream ON event (stream, revision);
   CREATE UNIQUE INDEX event_by_id ON event (id);`,
] as const;

const COLUMNS = 'position, stream, revision, id, type, data, metadata';

/** A page ends when its texts reach this many characters, however few events it has. */
const PAGE_CHARACTERS = 8_000_000;

export const openLog = (path: string): Database =>
  openDatabase(path, { durability: 'full', migrations: MIGRATIONS });

/** Up to `limit` events with position > `after`, in order; fewer when they are big, none only at the end. */
export const readAfter = (db: Database, after: bigint, limit: number): readonly EventRow[] => {
  const sql = `SELECT ${COLUMNS} FROM event WHERE position > ? ORDER BY position LIMIT ?`;
  return after > MAX_INT64 ? [] : readPage(db, sql, [after < 0n ? 0n : after, limit]);
};

/** Up to `limit` events of a stream with revision >= `from`, in order; fewer when they are big, none only at the end. */
export const readStreamFrom = (
  db: Database,
  stream: string,
  from: bigint,
  limit: number,
): readonly EventRow[] => {
  const sql = `SELECT ${COLUMNS} FROM event WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
  return from > MAX_INT64 ? [] : readPage(db, sql, [stream, from < 0n ? 0n : from, limit]);
};

const readPage = (db: Database, sql: string, parameters: (string | bigint | number)[]): EventRow[] => {
  const rows: EventRow[] = [];
  let characters = 0;
  for (const found of prepared(db, sql, { bigints: true, arrays: true }).iterate(...parameters)) {
    const row = found as unknown as EventRow;
    rows.push(row);
    characters += row[5].length + row[6].length;
    if (characters >= PAGE_CHARACTERS) break;
  }
  return rows;
};

/** Position of the last event, 0n when there is none. */
export const readLastPosition = (db: Database): bigint =>
  readOne<bigint | null>(db, 'SELECT max(position) FROM event') ?? 0n;

/** Revision of the stream's last event, undefined when it has none. */
export const readLastRevision = (db: Database, stream: string): bigint | undefined =>
  readOne<bigint | null>(db, 'SELECT max(revision) FROM event WHERE stream = ?', stream) ?? undefined;

/** Where an event with this id stands, if it is stored. */
export const findEvent = (
  db: Database,
  id: string,
): { readonly stream: string; readonly revision: bigint; readonly position: bigint } | undefined => {
  const sql = 'SELECT stream, revision, position FROM event WHERE id = ?';
  const row = prepared(db, sql, { bigints: true, arrays: true }).get(id) as unknown as
    | readonly [string, bigint, bigint]
    | undefined;
  return row && { stream: row[0], revision: row[1], position: row[2] };
};

export const insertEvent = (db: Database, row: EventRow): void => {
  prepared(db, `INSERT INTO event (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(...row);
};

/** A number that is another one whenever another connection (of any process) has committed to the file since. */
export const readForeignVersion = (db: Database): number =>
  Number(readOne<bigint>(db, 'PRAGMA data_version'));

const readOne = <T>(db: Database, sql: string, ...parameters: string[]): T => {
  const row = prepared(db, sql, { bigints: true, arrays: true }).get(...parameters);
  return (row as unknown as readonly [T])[0];
};
