import type { StoredEvent } from './event-store.ts';

/** Returns whether readers skip the event: another program wrote it. */
export const isForeign = ({ unreadable }: StoredEvent): boolean => unreadable?.kind === 'foreign';

/** Returns whether readers stop at the event: it is Varve's, and this program cannot read it. */
export const stopsReaders = ({ unreadable }: StoredEvent): boolean =>
  unreadable !== undefined && unreadable.kind !== 'foreign';

/** Position and reason as a sentence without its full stop. */
export const describeUnreadable = ({ position, stream, revision, unreadable }: StoredEvent): string =>
  `cannot read the event at position ${position} (${stream}, revision ${revision}): ${unreadable?.reason}`;

/** Describes an unreadable event, with advice for an operator. */
export const adviseOnUnreadable = (event: StoredEvent): string => {
  const isNewer = event.unreadable?.kind === 'unknown-type' || event.unreadable?.kind === 'newer-version';
  const advice = isNewer
    ? 'start this process with the newer version'
    : 'run varve verify, and restore the log from a backup';
  return `${describeUnreadable(event)}; ${advice}`;
};

/** Thrown by readers that must not continue past an event. */
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

type SplitEvents = { readonly readable: readonly StoredEvent[]; readonly stop: StoredEvent | undefined };

/** Returns the events up to the first that stops readers, and that one. Foreign events remain among them: their positions count. */
export const splitAtUnreadable = (events: readonly StoredEvent[]): SplitEvents => splitAtStop(events);

/** Splits events at the first that stops the reader. `isStop`: also stops this reader. */
export const splitAtStop = (
  events: readonly StoredEvent[],
  isStop: (event: StoredEvent) => boolean = () => false,
): SplitEvents => {
  const at = events.findIndex((event) => stopsReaders(event) || isStop(event));
  return at < 0 ? { readable: events, stop: undefined } : { readable: events.slice(0, at), stop: events[at] };
};
