import type { Database } from '../../sqlite/database.ts';
import { transaction } from '../../sqlite/transaction.ts';
import type { Append, EventRow } from '../event-codec.ts';
import type { AppendResult } from '../event-store.ts';
import { spaceOf } from '../stream-space.ts';
import { nextLink } from './hash-chain.ts';
import { type Head, refuseOtherHistory } from './log-identity.ts';
import { findEvent, insertEvent, openSpan, readHead, readLastRevision } from './sqlite-log.ts';

/** `refused`: an id of the append belongs to another event. */
export type AppendOutcome = AppendResult | { readonly kind: 'refused'; readonly reason: string };

/** Location of the events of an append that a commit wrote. */
type WrittenAppend = {
  /** Index of the append in the commit. */
  readonly append: number;
  /** Revision and position of the first event; the others follow without a gap. */
  readonly revision: bigint;
  readonly position: bigint;
  /** Links of the events, in order. */
  readonly links: readonly string[];
};

export type LogCommit = {
  /** Outcomes in the order of the appends. */
  readonly outcomes: readonly AppendOutcome[];
  /** Position of the log's last event before the commit. Another process may have appended that event. */
  readonly before: bigint;
  /** Appends that were written, in order of position. The others were refused, or their events had been stored before. */
  readonly written: readonly WrittenAppend[];
};

/**
 * Stores many appends in one transaction, so that they share one flush to disk. Each append is checked before it is written, against the
 * log with the previous appends. A conflict of one append does not affect the others. Throws if the whole transaction fails (disk full, I/O
 * error, lock timeout). Throws LogReplaced if `known`, the last event seen, is not in the log. Nothing is written in either case.
 * `isWhole`: nothing is written either if one append is not stored.
 */
export function commitAppends(
  db: Database,
  appends: readonly Append[],
  known: Head,
  isWhole: boolean,
): LogCommit {
  try {
    return transaction(db, () => {
      const commit = writeAppends(db, appends, known);
      if (isWhole && !isComplete(commit)) throw new Incomplete(commit);
      return commit;
    });
  } catch (error) {
    if (error instanceof Incomplete) return error.commit;
    throw error;
  }
}

/** Rolls back a commit, one of whose appends was not stored. */
class Incomplete extends Error {
  readonly commit: LogCommit;
  constructor({ outcomes, before }: LogCommit) {
    super('an append was not stored');
    const reason = 'some of the events that belong together were stored before';
    const isMixed = outcomes.every(({ kind }) => kind === 'appended');
    this.commit = { outcomes: isMixed ? [{ kind: 'refused', reason }] : outcomes, before, written: [] };
  }
}

/** Returns whether all appends were written, or all had been stored before. */
function isComplete({ outcomes, written }: LogCommit): boolean {
  const isWritten = written.length === 0 || written.length === outcomes.length;
  return isWritten && outcomes.every(({ kind }) => kind === 'appended');
}

function writeAppends(db: Database, appends: readonly Append[], known: Head): LogCommit {
  const head = readHead(db);
  refuseOtherHistory(db, head, known);
  const fence = createFence(db);
  const written: WrittenAppend[] = [];
  let end: Head = head;
  const outcomes = appends.map((append, index): AppendOutcome => {
    const settled = findEarlierAppend(db, append) ?? fence.find(append) ?? findConflict(db, append);
    if (settled.kind !== 'free') return settled;
    fence.moved(append.stream);
    // A store appends only to its own namespace.
    if (written.length === 0) openSpan(db, spaceOf(append.stream), end.position + 1n);
    const { revision } = settled;
    const links = linksOf(append, revision, end.chain);
    const added = { append: index, revision, position: end.position + 1n, links };
    for (const row of rowsOf(append, added)) insertEvent(db, row);
    written.push(added);
    const others = BigInt(links.length - 1);
    end = { position: added.position + others, chain: links.at(-1) ?? end.chain };
    return { kind: 'appended', revision: revision + others, position: end.position };
  });
  return { outcomes, before: head.position, written };
}

/** Returns the events that a commit of these appends wrote, in order of position. */
export function committedRows(appends: readonly Append[], { written }: LogCommit): readonly EventRow[] {
  return written.flatMap((added) => rowsOf(appends[added.append] as Append, added));
}

function linksOf({ stream, events }: Append, firstRevision: bigint, before: string): readonly string[] {
  let link = before;
  return events.map(({ digest }, n) => {
    link = nextLink(link, stream, firstRevision + BigInt(n), digest);
    return link;
  });
}

function rowsOf({ stream, events }: Append, { revision, position, links }: WrittenAppend): EventRow[] {
  return events.map(({ id, type, data, metadata }, n): EventRow => {
    const at = BigInt(n);
    return [position + at, stream, revision + at, id, type, data, metadata, links[n] ?? ''];
  });
}

/** Returns the result of the append that already stored these events. A retry writes nothing. */
function findEarlierAppend(db: Database, { stream, events }: Append): AppendOutcome | undefined {
  const found = events.map((event) => findEvent(db, spaceOf(stream), event.id));
  const first = found.find((event) => event !== undefined);
  if (first === undefined) return undefined;
  const start = found[0]?.revision ?? 0n;
  const isRetry = found.every((event, n) => event?.stream === stream && event.revision === start + BigInt(n));
  const last = found.at(-1);
  if (isRetry && last !== undefined) {
    return { kind: 'appended', revision: last.revision, position: last.position };
  }
  const id = events[found.indexOf(first)]?.id;
  const original = `revision ${first.revision} of ${first.stream}`;
  return {
    kind: 'refused',
    reason: `event id ${id} is that of ${original}, and this append to ${stream} is not its retry`,
  };
}

/**
 * Creates the check of conditions. Most appends of a commit have the same condition. So its stream is read only once, unless an append
 * writes to it.
 */
function createFence(db: Database) {
  let known: { readonly stream: string; readonly revision: bigint | undefined } | undefined;
  return {
    find({ condition }: Append): AppendOutcome | undefined {
      if (condition === undefined) return undefined;
      const { stream, revision } = condition;
      if (known?.stream !== stream) known = { stream, revision: readLastRevision(db, stream) };
      return known.revision === revision ? undefined : { kind: 'fenced' };
    },
    moved(stream: string): void {
      if (known?.stream === stream) known = undefined;
    },
  };
}

type Free = { readonly kind: 'free'; readonly revision: bigint };

function findConflict(db: Database, { stream, expected }: Append): Free | AppendOutcome {
  const actual = readLastRevision(db, stream);
  const isExpected = expected === 'any' || (expected === 'none' ? actual === undefined : actual === expected);
  return isExpected ? { kind: 'free', revision: (actual ?? -1n) + 1n } : { kind: 'conflict', actual };
}
