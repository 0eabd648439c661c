import type { StoredEvent } from './event-store.ts';

/** Whether readers skip the event: somebody else wrote it. */
export const isForeign = ({ unreadable }: StoredEvent): boolean => unreadable?.kind === 'foreign';

/** Whether readers stop at the event: it is Varve's, and this program cannot vouch for it. */
export const stopsReaders = ({ unreadable }: StoredEvent): boolean =>
  unreadable !== undefined && unreadable.kind !== 'foreign';

/** The place and the reason, as a sentence without its end. */
export const describeUnreadable = ({ position, stream, revision, unreadable }: StoredEvent): string =>
  `cannot read the event at position ${position} (${stream}, revision ${revision}): ${unreadable?.reason}`;

/** As describeUnreadable, with what an operator can do about it. */
export const adviseOnUnreadable = (event: StoredEvent): string => {
  const isNewer = event.unreadable?.kind === 'unknown-type' || event.unreadable?.kind === 'newer-version';
  const advice = isNewer
    ? 'start this process with the newer version'
    : 'run varve verify, and restore the log from a backup';
  return `${describeUnreadable(event)}; ${advice}`;
};

/** Thrown by readers that must not go on past an event. */
export class UnreadableEvent extends Error {
  readonly event: StoredEvent;
  constructor(event: StoredEvent) {
    super(describeUnreadable(event));
    this.event = event;
  }
}

/** Throws UnreadableEvent at an event that stops readers. */
export const refuseUnreadable = (event: StoredEvent): void => {
  if (stopsReaders(event)) throw new UnreadableEvent(event);
};

/** Returns the events up to the first that stops readers, and that one. Foreign events remain among them: their positions count. */
export const splitAtUnreadable = (
  events: readonly StoredEvent[],
): { readonly readable: readonly StoredEvent[]; readonly stop: StoredEvent | undefined } => {
  const at = events.findIndex(stopsReaders);
  return at < 0 ? { readable: events, stop: undefined } : { readable: events.slice(0, at), stop: events[at] };
};
