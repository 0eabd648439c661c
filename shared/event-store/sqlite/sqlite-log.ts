import type { Database } from '../../sqlite/database.ts';
import { prepared } from '../../sqlite/prepared.ts';
import { reading } from '../../sqlite/transaction.ts';
import { type EventColumns, type EventRow, MAX_INT64 } from '../event-codec.ts';
import { laterPosition } from '../later-position.ts';
import { SPACE_OF_STREAM } from '../stream-space.ts';
import { readingLog } from './damaged-log.ts';
import { CHAIN_START } from './hash-chain.ts';
import { damageOf, type StoredRow } from './stored-row.ts';

/** The statements that read and write the log's file. Each read ends within the call that starts it. */

const COLUMNS = 'position, stream, revision, id, type, data, metadata, chain';
const WITH_LINK_BEFORE = `event.position, stream, revision, id, type, data, metadata, chain,
  (SELECT before.chain FROM event AS before WHERE before.position = event.position - 1)`;

/** A page ends when its texts reach this many characters, even if it has few events. */
const PAGE_CHARACTERS = 8_000_000;

/** Events of a namespace, and the position up to which the log was searched. */
export type SpacePage = { readonly rows: readonly EventRow[]; readonly upTo: bigint };

/** All events from `first` to the next span belong to one namespace. Spans are in order, so their events are too. */
const OF_SPACE = `SELECT ${WITH_LINK_BEFORE} FROM span CROSS JOIN event
  WHERE span.space = ? AND span.first >= ?
    AND event.position >= max(span.first, ?)
    AND event.position < coalesce(
      (SELECT next.first FROM span AS next WHERE next.first > span.first ORDER BY next.first LIMIT 1), 9223372036854775807)
  ORDER BY span.first, event.position LIMIT ?`;

/**
 * Returns up to `limit` of the namespace's events with position > `after`, in order. There are fewer if they are large, and none only at
 * the end. The cost does not depend on the number of events of other namespaces.
 */
export function readAfter(db: Database, space: string, after: bigint, limit: number): SpacePage {
  return reading(db, () => {
    if (after >= MAX_INT64) return { rows: [], upTo: after };
    const from = after < 0n ? 1n : after + 1n;
    const span = readOne<bigint | null>(db, 'SELECT max(first) FROM span WHERE first <= ?', from) ?? 0n;
    const { rows, isFull } = readPage(db, OF_SPACE, [space, span, from], limit);
    const last = rows.at(-1)?.[0] ?? after;
    const end = isFull ? last : readLastPosition(db);
    return { rows, upTo: laterPosition(last, end) };
  });
}

/**
 * Returns up to `limit` events of a stream with revision >= `from`, in order. There are fewer if they are large, and none only at the end.
 */
export function readStreamFrom(
  db: Database,
  stream: string,
  from: bigint,
  limit: number,
): readonly EventRow[] {
  const sql = `SELECT ${WITH_LINK_BEFORE} FROM event WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
  if (from > MAX_INT64) return [];
  return readPage(db, sql, [stream, from < 0n ? 0n : from], limit).rows;
}

/** Returns up to `limit` events of all namespaces with position > `after`, in order. */
export function readFileAfter(db: Database, after: bigint, limit: number): readonly EventRow[] {
  const sql = `SELECT ${WITH_LINK_BEFORE} FROM event WHERE position > ? ORDER BY position LIMIT ?`;
  return readPage(db, sql, [after], limit).rows;
}

function readPage(db: Database, sql: string, parameters: readonly (string | bigint)[], limit: number) {
  const { rows, isFull } = readTexts<StoredRow>(db, sql, parameters, limit);
  return { rows: rows.map(eventRow), isFull };
}

type TextRow = readonly [...EventColumns, ...unknown[]];

/**
 * Reads up to `limit` rows that begin with an event's columns. `isFull`: there may be more rows, because the page reached a limit of rows
 * or characters.
 */
export function readTexts<Row extends TextRow>(
  db: Database,
  sql: string,
  parameters: readonly (string | bigint)[],
  limit: number,
): { readonly rows: readonly Row[]; readonly isFull: boolean } {
  const rows: Row[] = [];
  let characters = 0;
  readingLog(db, () => {
    for (const found of prepared(db, sql, { bigints: true, arrays: true }).iterate(...parameters, limit)) {
      const row = found as unknown as Row;
      rows.push(row);
      characters += charactersOf(row);
      if (characters >= PAGE_CHARACTERS) break;
    }
  });
  return { rows, isFull: rows.length === limit || characters >= PAGE_CHARACTERS };
}

/** Returns the length of an event's texts, which limits pages and memory. */
export function charactersOf(row: TextRow): number {
  return row[5].length + row[6].length;
}

function eventRow(row: StoredRow): EventRow {
  const [position, stream, revision, id, type, data, metadata, chain] = row;
  return [position, stream, revision, id, type, data, metadata, chain ?? '', damageOf(row)];
}

/** Returns position and link of the file's last event, of any namespace; position 0n if there is none. */
export function readHead(db: Database): { readonly position: bigint; readonly chain: string } {
  const sql = 'SELECT position, chain FROM event ORDER BY position DESC LIMIT 1';
  const row = readRow<readonly [bigint, string]>(db, sql);
  return row === undefined ? { position: 0n, chain: CHAIN_START } : { position: row[0], chain: row[1] };
}

/** Returns the link of the event at a position; undefined if there is none. */
export function readLink(db: Database, position: bigint): string | undefined {
  if (position > MAX_INT64) return undefined;
  return readRow<readonly [string]>(db, 'SELECT chain FROM event WHERE position = ?', position)?.[0];
}

/** Returns the position of the file's last event; 0n if there is none. */
export function readLastPosition(db: Database): bigint {
  return readOne<bigint | null>(db, 'SELECT max(position) FROM event') ?? 0n;
}

/** Returns the position of the namespace's last event; 0n if there is none. */
export function readLastPositionOf(db: Database, space: string): bigint {
  return reading(db, () => {
    const first = readOne<bigint | null>(db, 'SELECT max(first) FROM span WHERE space = ?', space);
    if (first === null) return 0n;
    const next = readOne<bigint | null>(db, 'SELECT min(first) FROM span WHERE first > ?', first);
    return next === null ? readLastPosition(db) : next - 1n;
  });
}

/** Returns the revision of the stream's last event; undefined if it has none. */
export function readLastRevision(db: Database, stream: string): bigint | undefined {
  return readOne<bigint | null>(db, 'SELECT max(revision) FROM event WHERE stream = ?', stream) ?? undefined;
}

const FIND_EVENT = `SELECT stream, revision, position FROM event
  WHERE id = ? AND ${SPACE_OF_STREAM} = ? AND chain IS NOT NULL`;

/** Returns the event with this id in the namespace; undefined if there is none. */
export function findEvent(db: Database, space: string, id: string) {
  const row = readRow<readonly [string, bigint, bigint]>(db, FIND_EVENT, id, space);
  return row && { stream: row[0], revision: row[1], position: row[2] };
}

const INSERT_EVENT = `INSERT INTO event (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** Inserts an event unchanged. The caller provides its position, revision and chain, and a transaction. */
export function insertEvent(db: Database, row: EventRow): void {
  const [position, stream, revision, id, type, data, metadata, chain = null] = row;
  prepared(db, INSERT_EVENT).run(position, stream, revision, id, type, data, metadata, chain);
}

/** Records that the events from this position on belong to the namespace. Does nothing if the last span has the same namespace. */
export function openSpan(db: Database, space: string, position: bigint): void {
  const last = prepared(db, 'SELECT space FROM span ORDER BY first DESC LIMIT 1').get();
  if (last?.['space'] === space) return;
  prepared(db, 'INSERT INTO span (first, space) VALUES (?, ?)').run(position, space);
}

/** Returns a number that changes when another connection (of any process) commits to the file. */
export function readForeignVersion(db: Database): number {
  return Number(readOne<bigint>(db, 'PRAGMA data_version'));
}

function readOne<T>(db: Database, sql: string, ...parameters: (string | bigint)[]): T {
  return readRow<readonly [T]>(db, sql, ...parameters)?.[0] as T;
}

function readRow<Row>(db: Database, sql: string, ...parameters: (string | bigint)[]): Row | undefined {
  return readingLog(
    db,
    () => prepared(db, sql, { bigints: true, arrays: true }).get(...parameters) as Row | undefined,
  );
}
