import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { freeBytes } from '../../free-disk.ts';
import { copyDatabase } from '../../sqlite/copy-database.ts';
import type { Database } from '../../sqlite/database.ts';
import { prepared } from '../../sqlite/prepared.ts';
import type { EventColumns } from '../event-codec.ts';
import { checkStoredText } from '../event-digest.ts';
import { spaceOf } from '../stream-space.ts';
import { CHAIN_START, nextLink } from './hash-chain.ts';
import { openSpan, readTexts } from './sqlite-log.ts';

/** Upgrade of a log that was written without a hash chain. It makes a copy first, then a link for every event. */

/** Returns the path of the copy that is made before the upgrade. An earlier release can open it. */
function copyOf(file: string): string {
  return `${file}.before-upgrade`;
}

const UNDO_BARRIER = 'DROP TRIGGER event_waits_for_copy; PRAGMA user_version = 1;';

/** Factor of the log's size that must be free: one for the copy, the rest for links and the new index. */
const SPACE_FACTOR = 2;

/** Throws if there is no space for the copy and the links, or if an older copy exists. Nothing is changed before that. */
export function refuseWithoutDisk(db: Database): void {
  const file = db.location();
  if (file === null || isEmpty(db)) return;
  if (existsSync(copyOf(file))) {
    throw new Error(
      `it has to be upgraded, and ${copyOf(file)} exists from an earlier upgrade: move that copy away first; nothing was changed`,
    );
  }
  const needed = SPACE_FACTOR * (sizeOf(file) + sizeOf(`${file}-wal`));
  const free = freeBytes(dirname(file));
  if (free >= needed) return;
  throw new Error(
    `it has to be upgraded, which needs ${megabytes(needed)} of disk space, and ${megabytes(free)} are free: free some space first; nothing was changed`,
  );
}

/** Writes the copy, once. The copy has every event of the log, because the barrier keeps other processes from appending. */
export function keepCopy(db: Database): void {
  const file = db.location();
  if (file === null || isEmpty(db) || existsSync(copyOf(file))) return;
  copyDatabase(file, copyOf(file), UNDO_BARRIER);
}

/** Events per transaction. Other processes wait for each transaction. */
const EVENTS_AT_ONCE = 5_000;
const NEXT_EVENTS = `SELECT position, stream, revision, id, type, data, metadata FROM event
  WHERE position > ? ORDER BY position LIMIT ?`;

/** Writes the links and spans of the next events. Returns `done` if there are none. */
export function chainNextEvents(db: Database): 'again' | 'done' {
  const progress = db.prepare('SELECT position, chain FROM chain_progress').get();
  let position = BigInt(Number(progress?.['position'] ?? 0));
  let chain = String(progress?.['chain'] ?? CHAIN_START);
  const { rows } = readTexts<EventColumns>(db, NEXT_EVENTS, [position], EVENTS_AT_ONCE);
  if (rows.length === 0) {
    db.exec('DROP TABLE chain_progress');
    return 'done';
  }
  const setLink = prepared(db, 'UPDATE event SET chain = ? WHERE position = ?');
  for (const [at, stream, revision, id, type, data, metadata] of rows) {
    chain = nextLink(chain, stream, revision, checkStoredText({ id, type, data, metadata }).digest);
    setLink.run(chain, at);
    openSpan(db, spaceOf(stream), at);
    position = at;
  }
  prepared(db, 'UPDATE chain_progress SET position = ?, chain = ?').run(position, chain);
  return 'again';
}

function isEmpty(db: Database): boolean {
  return db.prepare('SELECT 1 FROM event LIMIT 1').get() === undefined;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}
