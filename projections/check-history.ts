import type { EventStore } from '../shared/event-store/event-store.ts';
import type { AppliedEvent } from './graph/log-place.ts';

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
export async function checkHistory(
  log: Pick<EventStore, 'readStream' | 'lastPosition'>,
  { position, last }: CheckedPlace,
): Promise<HistoryCheck> {
  if (position === 0n) return { kind: 'same' };
  if (last !== undefined && (await isInLog(log, last))) return { kind: 'same' };
  const end = await log.lastPosition();
  if (end < position) return { kind: 'shorter', end };
  return { kind: last === undefined ? 'same' : 'other' };
}

async function isInLog(log: Pick<EventStore, 'readStream'>, last: AppliedEvent): Promise<boolean> {
  for await (const { id, position, chain } of log.readStream(last.stream, last.revision)) {
    if (id !== last.id || position !== last.position) return false;
    // A log without a chain gets one by an upgrade.
    return chain === undefined || last.chain === undefined || chain === last.chain;
  }
  return false;
}
