import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { isIdentityEvent } from '../../shared/fleet/identity-events.ts';
import { isLeaseEvent } from '../../shared/fleet/lease-events.ts';
import { isDefinition } from './definitions-in-force.ts';

/**
 * Creates the end of a process's content types: the process that replaces it brings others into force. Before `begin`, no event is after
 * the end.
 */
export function createTypesEnd(events: Pick<EffectiveEvents, 'after'>) {
  let hasBegun = false;
  let end: bigint | undefined;
  let isOver = false;
  const isBehind = (event: StoredEvent) => hasBegun && isDefinition(event);

  async function hasContent(after: bigint, upTo: bigint): Promise<boolean> {
    for await (const event of events.after(after, { until: upTo })) if (isContent(event)) return true;
    return false;
  }

  return {
    /** Returns whether this process must not apply an event, because its index has the earlier content types. */
    isBehind,
    /** Marks new definitions as those of the next process from now on. */
    begin(): void {
      hasBegun = true;
    },
    /** Returns whether the next process defines other content types. */
    hasBegun: () => hasBegun,
    /** Records the event at which this process has stopped. Returns whether it is this end. */
    reached(event: StoredEvent): boolean {
      if (!isBehind(event)) return false;
      end = event.position;
      return true;
    },
    /**
     * Returns whether reads here show all content up to a position of the log. Events that the next process writes by itself are not
     * content.
     */
    async showsAll(position: bigint): Promise<boolean> {
      if (end === undefined || position <= end) return true;
      isOver ||= await hasContent(end, position);
      return !isOver;
    },
  };
}

/** Returns whether an event changes answers. */
function isContent(event: StoredEvent): boolean {
  return !isDefinition(event) && !isLeaseEvent(event) && !isIdentityEvent(event);
}
