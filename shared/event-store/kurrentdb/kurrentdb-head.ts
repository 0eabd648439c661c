import { LogRestored } from '../event-store.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent } from './kurrentdb-event.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import { lastEventUpTo, spaceFilter } from './kurrentdb-pages.ts';
import { allRequest, HEAD_REQUEST, readEvents } from './kurrentdb-read.ts';
import { withDeadline } from './kurrentdb-retry.ts';

/** Search result for the records after a position. */
export type Stretch =
  /** There is no event of the namespace up to this position, where the log ends. */
  | { readonly kind: 'empty'; readonly upTo: bigint }
  /** Position of the first event in the namespace's streams. */
  | { readonly kind: 'found'; readonly position: bigint };

/**
 * Searches for events of the namespace after a position. Both reads use one channel, because a node has searched everything up to the end
 * that it reports.
 */
export async function searchAfter(connection: Connection, after: bigint): Promise<Stretch> {
  const { reader, retryLimits } = connection;
  const { deadlineMs } = retryLimits;
  const on = await withDeadline(reader.channel.current(), deadlineMs);
  const [head] = await readEvents(reader, HEAD_REQUEST, deadlineMs, on);
  const upTo = head === undefined ? 0n : positionOfEvent(head);
  await connection.history.ends(upTo);
  if (upTo <= after) return { kind: 'empty', upTo: after };
  const firstAfter = async (from: bigint) => {
    // The page begins with the record at the position itself.
    const page = allRequest({ from: from <= 0n ? 'start' : from, count: 2 }, spaceFilter(connection));
    const positions = (await readEvents(reader, page, deadlineMs, on)).map(positionOfEvent);
    return positions.find((position) => position > after);
  };
  const orAt = (position: () => Promise<bigint>) => async (error: unknown) => {
    if (!isInvalidPosition(error)) throw error;
    return firstAfter(await position());
  };
  // A checkpoint names the record after the searched ones.
  const found = await firstAfter(after)
    .catch(orAt(async () => after + 1n))
    .catch(orAt(() => lastEventUpTo(connection, after)));
  return found === undefined ? { kind: 'empty', upTo } : { kind: 'found', position: found };
}

/** A subscription that may have caught up, although the server has not reported it. */
export type HeadSubscriber = {
  /** Returns the position up to which the log has been searched and handled. */
  at(): bigint;
  /** Returns true if no handler runs and no event waits. */
  isQuiet(): boolean;
  /** Receives the result of a search after the position that `at()` returned. */
  take(stretch: Stretch): void;
  /** Ends the subscription: the log no longer is the one that it has read. */
  fail(error: LogRestored): void;
};

export type HeadWatch = ReturnType<typeof createHeadWatch>;

/** Half of the time within which the port promises that subscribers reach the log's end. */
const LOOK_EVERY_MS = 500;

/**
 * Informs subscriptions of foreign records after the namespace's last event. A server reports its search position only every 10,000
 * records. It never reports an end of the log that is a few records later.
 */
export function createHeadWatch(connection: Connection) {
  const subscribers = new Set<HeadSubscriber>();
  let timer: NodeJS.Timeout | undefined;
  let wanted = 0n;
  let looking: Promise<void> | undefined;
  let again = false;

  const lookOnce = async () => {
    const quiet = [...subscribers].filter((subscriber) => subscriber.isQuiet());
    for (const after of new Set(quiet.map((subscriber) => subscriber.at()))) {
      const stretch = await searchAfter(connection, after);
      for (const subscriber of quiet) if (subscriber.at() === after) subscriber.take(stretch);
    }
  };
  const look = (): void => {
    again = looking !== undefined;
    // The read itself replaces a node that cannot be read. The next search follows in half a second.
    looking ??= lookOnce()
      .catch((error: unknown) => {
        if (error instanceof LogRestored) for (const subscriber of subscribers) subscriber.fail(error);
      })
      .finally(() => {
        looking = undefined;
        if (again) look();
      });
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add(subscriber: HeadSubscriber): void {
      subscribers.add(subscriber);
      timer ??= setInterval(look, LOOK_EVERY_MS);
    },
    forget(subscriber: HeadSubscriber): void {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) stop();
    },
    /** Requests that the subscribers reach this position, because a caller waits for it. */
    want(position: bigint): void {
      if (position > wanted) wanted = position;
      if ([...subscribers].some((subscriber) => subscriber.at() < position)) look();
    },
    wanted: () => wanted,
    look,
    close: stop,
  };
}
