import type { StoredEvent } from './event-store.ts';

/** Whether readers skip the event: somebody else wrote it. */
export const isForeign = ({ unreadable }: StoredEvent): boolean => unreadable?.kind === 'foreign';

/** Whether readers stop at the event: it is Varve's, and this program cannot vouch for it. */
const stopsReaders = ({ unreadable }: StoredEvent): boolean =>
  unreadable !== undefined && unreadable.kind !== 'foreign';

/** The place and the reason, as a sentence without its end. */
export const describeUnreadable = ({ position, stream, revision, unreadable }: StoredEvent): string =>
  `cannot read the event at position ${position} (${stream}, revision ${revision}): ${unreadable?.reason}`;

/** Thrown by readers that must not go on past an event. */
class UnreadableEvent extends Error {
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
