import { definitionStream } from '../../shared/document/stream-name.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { stopsReaders, UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { watchTypes } from '../content-types/types-in-force.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createLeaseView, type LeaseView, readLease } from '../fleet/lease-view.ts';
import type { Halt } from './halt.ts';

/**
 * Reads the leader and its content types from the log from now on, for a process that has no graph. Ends before an event that cannot be
 * read.
 */
export async function trackLease(
  { log, space }: { readonly log: EventStore; readonly space: string },
  definitions: readonly TypeDefinition[],
  { stop: halt }: Pick<Halt, 'stop'>,
) {
  // Read before the lease, so that events appended in between arrive twice (and are applied once) instead of never.
  const start = await log.lastPosition();
  const lease = await readLease(log, space);
  const view = createLeaseView(space, lease);
  const types = watchTypes(definitions);
  const closed = Promise.withResolvers<void>();
  const isOwn = (name: string) => name === leaseStream(space) || name.startsWith(definitionStream(space, ''));
  const { subscribe } = createEffectiveEvents(log, space);
  const subscription = subscribe(start, async ({ events }) => {
    // Only the leader reads document events. Here they only show that the leader is alive.
    const stop = events.find((event) => stopsReaders(event) && isOwn(event.stream));
    const readable = stop === undefined ? events : events.filter(({ position }) => position < stop.position);
    view.apply(readable);
    types.apply(readable);
    if (stop !== undefined) throw new UnreadableEvent(stop);
  });
  const done = subscription.done.catch((error: unknown) => {
    if (!(error instanceof UnreadableEvent)) throw error;
    halt(error.event);
    return closed.promise;
  });
  return {
    types,
    /** Epoch of the newest claim. */
    epoch: () => view.current().epoch,
    fleet: { leader: () => leaderOf(view), changed: view.changed },
    done,
    async close() {
      closed.resolve();
      types.close();
      view.wake();
      await subscription.close();
    },
  };
}

function leaderOf(view: LeaseView): ReturnType<Fleet['leader']> {
  const { leader } = view.current();
  if (leader === undefined) return { kind: 'nobody' };
  return { kind: 'elsewhere', leader, term: view.term() };
}
