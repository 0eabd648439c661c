import type { StoredEvent } from '../event-store/event-store.ts';
import type { LeaderElected } from './lease-events.ts';

/** The newest epoch in the log after an event: claims raise it. */
export function epochAfter(epoch: number, event: Pick<StoredEvent, 'type' | 'data' | 'unreadable'>): number {
  if (event.type !== 'leader-elected' || event.unreadable !== undefined) return epoch;
  return Math.max(epoch, (event.data as LeaderElected['data']).epoch);
}

/**
 * Whether an event was written by a leader whose lease another claim had ended before: it stands in the log and does not count.
 * `epoch` is that of the newest claim before the event. Every process judges alike, as it depends on the log alone.
 */
export function isFenced({ metadata }: Pick<StoredEvent, 'metadata'>, epoch: number): boolean {
  return metadata.epoch < epoch;
}
