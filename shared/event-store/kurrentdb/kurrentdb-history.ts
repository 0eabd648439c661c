import { setTimeout as delay } from 'node:timers/promises';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import { LogRestored } from '../event-store.ts';
import { laterPosition } from '../later-position.ts';
import type { Address } from './kurrentdb-address.ts';
import { positionOfEvent, type Recorded } from './kurrentdb-event.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import { allRequest, HEAD_REQUEST } from './kurrentdb-read.ts';

/** Reads a page from the leader. It makes one attempt, over a channel that needs no proof. */
export type ReadUnproven = (message: ReadReq) => Promise<readonly Recorded[]>;

/** Proof that the log still is the one that this process has read. */
export type History = ReturnType<typeof createReadHistory>;

/** Positions that this process knows: of the newest event, and up to which it has read or searched the log. */
export type HistoryMark = { readonly event: bigint; readonly covered: bigint };

/**
 * Milliseconds for which the log of a cluster must be too short. A leader that was paused still answers for a moment, and lacks the newest
 * events. A single server has no such state.
 */
const CONFIRM_MS = 5_000;
const LOOK_EVERY_MS = 500;

type Found = 'there' | { readonly kind: 'shorter' | 'other'; readonly end: bigint };

/**
 * Remembers the newest event that this process has read. Operators restore older copies of a log. Then another event, or none, is at its
 * position, and everything that was read after the copy is wrong.
 */
export function createReadHistory({ shown, isCluster }: Address, read: ReadUnproven) {
  let newest: { readonly id: string; readonly position: bigint } | undefined;
  let covered = 0n;
  let reached = 0n;
  let appended = 0n;
  const unfinished = new Set<string>();
  let restored: LogRestored | undefined;

  const fail = (position: bigint, { kind, end }: Exclude<Found, 'there'>): LogRestored => {
    const found = kind === 'other' ? `has other records at position ${position} and ends at` : 'ends at';
    restored = new LogRestored(
      `the event log at ${shown} ${found} position ${end}, and this process has read another history up to position ${position}: an older copy of the log was restored`,
    );
    return restored;
  };
  const mark = (): HistoryMark => ({ event: newest?.position ?? 0n, covered });
  const known = () => laterPosition(reached, mark().event);
  const find = async (): Promise<Found> => {
    const event = newest;
    const upTo = known();
    const record = event && (await recordFrom(read, event.position));
    const isThere = event === undefined || (record !== undefined && isOrComesAfter(record, event));
    if (isThere && upTo <= (event?.position ?? 0n)) return 'there';
    const [head] = await read(HEAD_REQUEST);
    const end = head === undefined ? 0n : positionOfEvent(head);
    if (end < upTo) return { kind: 'shorter', end };
    return isThere ? 'there' : { kind: 'other', end };
  };
  /** Rejects with LogRestored if the newest event is not in the log, or the log ends before a position that it had reached. */
  const prove = async (): Promise<void> => {
    const giveUpAt = performance.now() + (isCluster ? CONFIRM_MS : 0);
    for (;;) {
      if (restored !== undefined) throw restored;
      const found = await find();
      if (found === 'there') return;
      if (found.kind === 'other' || performance.now() >= giveUpAt) throw fail(known(), found);
      await delay(LOOK_EVERY_MS);
    }
  };
  return {
    prove,
    mark,
    /** Records events that a caller gets. */
    seen(events: readonly Recorded[]): void {
      const last = events.at(-1);
      if (last === undefined || positionOfEvent(last) <= mark().event) return;
      newest = { id: last.id, position: positionOfEvent(last) };
    },
    /** Records that all events of the namespace up to a position were seen. */
    covered(upTo: bigint): void {
      covered = laterPosition(covered, upTo);
    },
    /** Records that the log has reached a position. */
    reached(end: bigint): void {
      reached = laterPosition(reached, end);
    },
    /**
     * Checks the position of a stored append. `before`: the mark before the append. A new event comes after everything that was read
     * before. A repeated append has the position of an event that was read.
     */
    async stored(before: HistoryMark, position: bigint): Promise<void> {
      if (position <= before.event) return prove();
      if (position <= before.covered) throw fail(before.covered, { kind: 'other', end: position });
      appended = laterPosition(appended, position);
    },
    /** Records the events of appends that have no answer yet. Call the function that is returned when they have one. */
    appending(appends: readonly (readonly { readonly id: string }[])[]): () => void {
      const ids = appends.flatMap((events) => events.slice(0, -1).map(({ id }) => id));
      for (const id of ids) unfinished.add(id);
      return () => {
        for (const id of ids) unfinished.delete(id);
      };
    },
    /**
     * Returns a function for one step of a subscription: whether the step has all events of appends of this process that began to arrive. It
     * waits for answers that were known when the first event arrived, so that a step ends under constant appends.
     */
    wholeAppends(): (step: { readonly events: readonly Recorded[]; readonly upTo: bigint }) => boolean {
      let answered: bigint | undefined;
      return ({ events, upTo }) => {
        answered ??= appended;
        return events.length === 0 || (upTo >= answered && !unfinished.has(events.at(-1)?.id ?? ''));
      };
    },
    /** Proves that the log reaches a position that its server reported as its end. */
    async ends(at: bigint): Promise<void> {
      if (at < known()) await prove();
    },
  };
}

/** Returns the first record from a position on; undefined if there is none, or no record begins there. */
async function recordFrom(read: ReadUnproven, position: bigint): Promise<Recorded | undefined> {
  try {
    const [record] = await read(allRequest({ from: position, count: 1 }));
    return record;
  } catch (error) {
    if (isInvalidPosition(error)) return undefined;
    throw error;
  }
}

/** Returns whether a record is the event, or the first one after it: a scavenge has removed the event then. */
function isOrComesAfter(
  record: Recorded,
  event: { readonly id: string; readonly position: bigint },
): boolean {
  const position = positionOfEvent(record);
  return position === event.position ? record.id === event.id : position > event.position;
}
