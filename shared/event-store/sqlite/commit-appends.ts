import type { Database } from '../../sqlite/database.ts';
import { transaction } from '../../sqlite/transaction.ts';
import type { EncodedEvent, EventRow } from '../event-codec.ts';
import type { AppendCondition, AppendResult, ExpectedRevision } from '../event-store.ts';
import { spaceOf } from '../stream-space.ts';
import { nextLink } from './hash-chain.ts';
import { type Head, refuseOtherHistory } from './log-identity.ts';
import { findEvent, insertEvent, openSpan, readHead, readLastRevision } from './sqlite-log.ts';

export type Append = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** At least one event; no id twice. */
  readonly events: readonly EncodedEvent[];
  readonly condition?: AppendCondition | undefined;
};

/** `refused`: an id of the append belongs to another event. */
export type AppendOutcome = AppendResult | { readonly kind: 'refused'; readonly reason: string };

export type LogCommit = {
  /** One for each append, in order. */
  readonly outcomes: readonly AppendOutcome[];
  /** Position of the log's last event before the commit: another process may have moved it. */
  readonly before: bigint;
  /** The links of the events that were written, in order. */
  readonly links: readonly string[];
};

/**
 * Stores many appends in one transaction, so that they share one flush to disk. Each append is checked before it is
 * written, against the log with the previous appends. A conflict of one append does not affect the others. Throws if
 * the whole transaction fails (disk full, I/O error, lock timeout). Throws LogReplaced if `known`, the last event seen,
 * is not in the log. Nothing is written in either case.
 */
export function commitAppends(db: Database, appends: readonly Append[], known: Head): LogCommit {
  return transaction(db, () => {
    const head = readHead(db);
    refuseOtherHistory(db, head, known);
    const links: string[] = [];
    let last = head.position;
    let link = head.chain;
    const fence = createFence(db);
    const outcomes = appends.map((append): AppendOutcome => {
      const settled = findEarlierAppend(db, append) ?? fence.find(append) ?? findConflict(db, append);
      if (settled.kind !== 'free') return settled;
      const { stream, events } = append;
      fence.moved(stream);
      // A store appends only to its own namespace.
      if (links.length === 0) openSpan(db, spaceOf(stream), last + 1n);
      for (const [n, { digest }] of events.entries()) {
        link = nextLink(link, stream, settled.revision + BigInt(n), digest);
        links.push(link);
      }
      const { rows, result } = writtenAt(append, settled.revision, last, links.slice(-events.length));
      for (const row of rows) insertEvent(db, row);
      last = result.position;
      return result;
    });
    return { outcomes, before: head.position, links };
  });
}

/** Returns the events that a commit of these appends wrote, in order of position. */
export function committedRows(appends: readonly Append[], commit: LogCommit): EventRow[] {
  const { outcomes, before, links } = commit;
  const written: EventRow[] = [];
  let last = before;
  for (const [n, append] of appends.entries()) {
    const outcome = outcomes[n];
    // An append of the same commit may be the retry of one before it.
    if (outcome?.kind !== 'appended' || outcome.position <= last) continue;
    const first = outcome.revision - BigInt(append.events.length - 1);
    const own = links.slice(written.length, written.length + append.events.length);
    written.push(...writtenAt(append, first, last, own).rows);
    last = outcome.position;
  }
  return written;
}

/** Result of the append that already stored these events: a retry writes nothing. */
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
 * Creates the check of conditions. Most appends of a commit have the same condition, so its stream is read only once,
 * unless an append writes to it.
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

/**
 * Returns an append's events as rows, from `firstRevision` on and after the event at `lastPosition`, and the end of the
 * log after them.
 */
function writtenAt(
  { stream, events }: Append,
  firstRevision: bigint,
  lastPosition: bigint,
  links: readonly string[],
) {
  const rows = events.map(({ id, type, data, metadata }, n): EventRow => {
    const revision = firstRevision + BigInt(n);
    return [lastPosition + BigInt(n) + 1n, stream, revision, id, type, data, metadata, links[n] ?? ''];
  });
  const count = BigInt(events.length);
  const result = {
    kind: 'appended',
    revision: firstRevision + count - 1n,
    position: lastPosition + count,
  } as const;
  return { rows, result };
}
