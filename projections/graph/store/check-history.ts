import { type EventStore, type StoredEvent, StreamDeleted } from '../../../shared/event-store/event-store.ts';
import { rawEvents } from '../../../shared/event-store/raw-events.ts';
import type { AppliedEvent } from './log-checkpoint.ts';

/**
 * Result of checking whether a graph was made from a log. `shorter`: the log ends at `end`, before the position of the graph. `restored`:
 * an older copy of the log was restored. It ends at `end`, and both have one history up to position `common` at least.
 */
export type HistoryCheck =
  | { readonly kind: 'same' }
  | { readonly kind: 'other' }
  | { readonly kind: 'shorter'; readonly end: bigint }
  | { readonly kind: 'restored'; readonly end: bigint; readonly common: bigint };

/**
 * Position of a graph. `last`: undefined if an earlier release applied the event without recording it. `samples`: some of the applied
 * events, the newest first.
 */
export type AppliedPosition = {
  readonly position: bigint;
  readonly last: AppliedEvent | undefined;
  readonly samples: readonly AppliedEvent[];
};

/**
 * Looks up a graph's last applied event in the log. It does not compare only positions, because a restored log that has grown has other
 * events at the same positions. It asks the leading node of the store, because another node may lack the last events for a while.
 */
export async function checkHistory(
  log: CheckedLog,
  { position, last, samples }: AppliedPosition,
): Promise<HistoryCheck> {
  if (position === 0n) return { kind: 'same' };
  if (last !== undefined && (await isInLog(log, last))) return { kind: 'same' };
  const end = await log.lastPosition();
  const common = await findCommon(log, samples, end);
  if (common !== undefined) return { kind: 'restored', end, common };
  if (end < position) return { kind: 'shorter', end };
  return { kind: last === undefined ? 'same' : 'other' };
}

type CheckedLog = Pick<EventStore, 'readStream' | 'readAll' | 'lastPosition' | 'chain'>;

/**
 * Finds the newest sample that the log has too; undefined if there is none. A log in a file has no restored copies: an operator replaced
 * the file, or `varve restore` made another directory.
 */
async function findCommon(
  log: CheckedLog,
  samples: readonly AppliedEvent[],
  end: bigint,
): Promise<bigint | undefined> {
  if (log.chain !== undefined) return undefined;
  for (const sample of samples)
    if (sample.position <= end && (await isInLog(log, sample))) return sample.position;
  return undefined;
}

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

/**
 * Finds the event by its position. A stream that was deleted or truncated on the log's server does not show events that the log still has.
 */
async function findAtPosition(log: CheckedLog, last: AppliedEvent): Promise<StoredEvent | undefined> {
  for await (const event of rawEvents(log, last.position - 1n, { batchSize: 1 }))
    return sameEvent(event, last);
  return undefined;
}

/** An erased event has another id than before, and the same link. */
function sameEvent(event: StoredEvent, { id, position, chain }: AppliedEvent): StoredEvent | undefined {
  const isSame = event.id === id || (chain !== undefined && event.chain === chain);
  return isSame && event.position === position ? event : undefined;
}
