import type { StoredEvent } from '../event-store/event-store.ts';
import type { LeaderElected } from './lease-events.ts';

/** Returns the newest epoch in the log after an event. Claims raise it. */
export function epochAfter(epoch: number, event: Pick<StoredEvent, 'type' | 'data' | 'unreadable'>): number {
  if (event.type !== 'leader-elected' || event.unreadable !== undefined) return epoch;
  return Math.max(epoch, (event.data as LeaderElected['data']).epoch);
}

/**
 * Returns whether another claim had ended the lease of the event's writer. Such an event is in the log and has no effect. `epoch` is that
 * of the newest claim before the event. Every process agrees, because the result depends only on the log.
 */
export function isFenced({ metadata }: Pick<StoredEvent, 'metadata'>, epoch: number): boolean {
  return metadata.epoch < epoch;
}
