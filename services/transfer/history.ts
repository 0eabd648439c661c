import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { createClaims } from '../../shared/fleet/claims.ts';
import { isIdentityEvent } from '../../shared/fleet/identity-events.ts';
import { isLeaseEvent } from '../../shared/fleet/lease-events.ts';

/** Event of a log, or of an export that has all events of a log. */
type Candidate = Pick<StoredEvent, 'stream' | 'type' | 'data' | 'metadata'> & {
  readonly revision: bigint | number;
};

/**
 * Returns a function that gets the events of a log in order. For an event of the content's history it returns the revision; for others
 * undefined. Claims decide whether later events take effect. So a history without claims must omit the events that they fence off, and
 * close the gaps in their streams.
 */
export function createHistory(): (event: Candidate) => number | undefined {
  const claims = createClaims();
  const left = new Map<string, number>();
  return (event) => {
    const counts = claims.add(event);
    if (isLeaseEvent(event) || isIdentityEvent(event)) return undefined;
    const { stream } = event;
    const gone = left.get(stream) ?? 0;
    if (counts) return Number(event.revision) - gone;
    left.set(stream, gone + 1);
    return undefined;
  };
}
