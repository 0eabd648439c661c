import type { EventStore } from '../../shared/event-store/event-store.ts';
import { isForeign, refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import type { Lead } from '../../shared/fleet/lease.ts';

/**
 * Returns whether events at `position`, appended under `lead`, precede the next claim. Reads the stream of the lease, because the current
 * lease says nothing about earlier events.
 */
export async function countsByLease(log: EventStore, position: bigint, { fence }: Lead): Promise<boolean> {
  if (fence === undefined) return true;
  for await (const event of log.readStream(fence.stream, fence.revision + 1n)) {
    refuseUnreadable(event);
    if (event.type === 'leader-elected' && !isForeign(event)) return position < event.position;
  }
  return true;
}
