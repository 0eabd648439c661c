import { type EventStore, type StoredEvent, StreamDeleted } from '../../../shared/event-store/event-store.ts';
import type { AppliedEvent } from './log-place.ts';

/** Whether a graph was made from a log. `shorter`: the log ends at `end`, before what the graph has applied. */
export type HistoryCheck =
  | { readonly kind: 'same' }
  | { readonly kind: 'other' }
  | { readonly kind: 'shorter'; readonly end: bigint };

/** Where a graph stands. `last`: undefined where an earlier release applied the event, which did not note it. */
export type CheckedPlace = { readonly position: bigint; readonly last: AppliedEvent | undefined };

/**
 * Looks the last event that a graph applied up in the log. Positions do not tell: a log that was put back and written on has other
 * events at the same ones. The log is asked where its store leads: one that only follows may lack the last events for a while.
 */
export async function checkHistory(log: CheckedLog, { position, last }: CheckedPlace): Promise<HistoryCheck> {
  if (position === 0n) return { kind: 'same' };
  if (last !== undefined && (await isInLog(log, last))) return { kind: 'same' };
  const end = await log.lastPosition();
  if (end < position) return { kind: 'shorter', end };
  return { kind: last === undefined ? 'same' : 'other' };
}

type CheckedLog = Pick<EventStore, 'readStream' | 'readAll' | 'lastPosition'>;

async function isInLog(log: CheckedLog, last: AppliedEvent): Promise<boolean> {
  const found = (await findInStream(log, last)) ?? (await findAtPosition(log, last));
  // A log without a chain gets one by an upgrade.
  return (
    found !== undefined &&
    (found.chain === undefined || last.chain === undefined || found.chain === last.chain)
  );
}

async function findInStream(log: CheckedLog, last: AppliedEvent): Promise<StoredEvent | undefined> {
  try {
    for await (const event of log.readStream(last.stream, last.revision)) return sameEvent(event, last);
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  return undefined;
}

/** A stream that was deleted or truncated on the log's server does not show what the log still has. */
async function findAtPosition(log: CheckedLog, last: AppliedEvent): Promise<StoredEvent | undefined> {
  for await (const [event] of log.readAll(last.position - 1n, { batchSize: 1 })) {
    if (event !== undefined) return sameEvent(event, last);
  }
  return undefined;
}

const sameEvent = (event: StoredEvent, { id, position }: AppliedEvent): StoredEvent | undefined =>
  event.id === id && event.position === position ? event : undefined;
