import type { Database } from '../sqlite/database.ts';
import { transaction } from '../sqlite/transaction.ts';
import type { EncodedEvent, EventRow } from './event-codec.ts';
import type { AppendResult, ExpectedRevision } from './event-store.ts';
import { findEvent, insertEvent, readLastPosition, readLastRevision } from './sqlite-log.ts';

export type Append = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** At least one; no id twice. */
  readonly events: readonly EncodedEvent[];
};

/** `refused`: an id of the append belongs to another event. */
export type AppendOutcome = AppendResult | { readonly kind: 'refused'; readonly reason: string };

export type Commit = {
  /** One for each append, in order. */
  readonly outcomes: readonly AppendOutcome[];
  /** Position of the log's last event before the commit: another process may have moved it. */
  readonly before: bigint;
  /** What was written, in order of position. */
  readonly rows: readonly EventRow[];
};

/**
 * Stores many appends in one transaction, so that they share one flush to disk. Each is checked for itself, before anything
 * of it is written, against the log with the ones before it: a conflict of one does not touch the others.
 * Throws when the transaction as a whole fails (disk full, I/O error, locked for too long): nothing was written then.
 */
export const commitAppends = (db: Database, appends: readonly Append[]): Commit =>
  transaction(db, () => {
    const before = readLastPosition(db);
    const rows: EventRow[] = [];
    const outcomes = appends.map((append): AppendOutcome => {
      const settled = findEarlierAppend(db, append) ?? findConflict(db, append);
      if (settled.kind !== 'free') return settled;
      return write(db, append, settled.revision, before + BigInt(rows.length), rows);
    });
    return { outcomes, before, rows };
  });

/** The result of the append whose events these are, when it has been made already: its retry writes nothing. */
const findEarlierAppend = (db: Database, { stream, events }: Append): AppendOutcome | undefined => {
  const found = events.map((event) => findEvent(db, event.id));
  const first = found.find((event) => event !== undefined);
  if (first === undefined) return undefined;
  const start = found[0]?.revision ?? 0n;
  const isRetry = found.every((event, n) => event?.stream === stream && event.revision === start + BigInt(n));
  const last = found.at(-1);
  if (isRetry && last !== undefined) {
    return { kind: 'appended', revision: last.revision, position: last.position };
  }
  const id = events[found.indexOf(first)]?.id;
  const place = `revision ${first.revision} of ${first.stream}`;
  return {
    kind: 'refused',
    reason: `event id ${id} is that of ${place}, and this append to ${stream} is not its retry`,
  };
};

type Free = { readonly kind: 'free'; readonly revision: bigint };

const findConflict = (db: Database, { stream, expected }: Append): Free | AppendOutcome => {
  const actual = readLastRevision(db, stream);
  const isExpected = expected === 'any' || (expected === 'none' ? actual === undefined : actual === expected);
  return isExpected ? { kind: 'free', revision: (actual ?? -1n) + 1n } : { kind: 'conflict', actual };
};

const write = (
  db: Database,
  { stream, events }: Append,
  firstRevision: bigint,
  lastPosition: bigint,
  rows: EventRow[],
): AppendOutcome => {
  let revision = firstRevision - 1n;
  let position = lastPosition;
  for (const event of events) {
    revision += 1n;
    position += 1n;
    const row: EventRow = [position, stream, revision, event.id, event.type, event.data, event.metadata];
    insertEvent(db, row);
    rows.push(row);
  }
  return { kind: 'appended', revision, position };
};
