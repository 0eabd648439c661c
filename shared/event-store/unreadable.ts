import type { StoredEvent } from './event-store.ts';

/** Returns whether readers skip the event, because another program wrote it. */
export function isForeign({ unreadable }: StoredEvent): boolean {
  return unreadable?.kind === 'foreign';
}

/** Returns whether readers stop at the event: Varve wrote it, and this program cannot read it. */
export function stopsReaders({ unreadable }: StoredEvent): boolean {
  return unreadable !== undefined && unreadable.kind !== 'foreign';
}

/** Returns position and reason as a sentence without its full stop. */
export function describeUnreadable({ position, stream, revision, unreadable }: StoredEvent): string {
  return `cannot read the event at position ${position} (${stream}, revision ${revision}): ${unreadable?.reason}`;
}

/** Describes an unreadable event, with advice for an operator. */
export function adviseOnUnreadable(event: StoredEvent): string {
  const isNewer = event.unreadable?.kind === 'unknown-type' || event.unreadable?.kind === 'newer-version';
  const advice = isNewer
    ? 'start this process with the newer version'
    : 'run varve verify, and restore the log from a backup';
  return `${describeUnreadable(event)}; ${advice}`;
}

/** Error of readers that must not continue past an event. */
export class UnreadableEvent extends Error {
  readonly event: StoredEvent;
  constructor(event: StoredEvent) {
    super(describeUnreadable(event));
    this.event = event;
  }
}

/** Throws UnreadableEvent for an event that stops readers. */
export function refuseUnreadable(event: StoredEvent): void {
  if (stopsReaders(event)) throw new UnreadableEvent(event);
}

/** Returns the state after the events of a stream. Throws UnreadableEvent for an event that stops readers. */
export async function stateAfterAll<State>(
  events: AsyncIterable<StoredEvent>,
  initial: State,
  evolve: (state: State, event: StoredEvent) => State,
): Promise<State> {
  let state = initial;
  for await (const event of events) {
    refuseUnreadable(event);
    state = evolve(state, event);
  }
  return state;
}

/**
 * Returns the events before the first one that stops readers, and that event. `isStop` returns true for events that stop only this reader.
 * Foreign events are included, because their positions count.
 */
export function splitAtStop(
  events: readonly StoredEvent[],
  isStop: (event: StoredEvent) => boolean = () => false,
): { readonly readable: readonly StoredEvent[]; readonly stop: StoredEvent | undefined } {
  const at = events.findIndex((event) => stopsReaders(event) || isStop(event));
  return at < 0 ? { readable: events, stop: undefined } : { readable: events.slice(0, at), stop: events[at] };
}
