import type { Channel } from '@grpc/grpc-js';
import { LogRestored } from '../event-store.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { recordNear } from './kurrentdb-cursor.ts';
import { positionOfEvent } from './kurrentdb-event.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import { readEndOnce, spaceFilter } from './kurrentdb-pages.ts';
import { allRequest, readEvents } from './kurrentdb-read.ts';
import { withDeadline } from './kurrentdb-retry.ts';
import type { SpaceStep } from './kurrentdb-space-call.ts';

/** Search result for the records after a position. */
export type Stretch =
  /** There is no event of the namespace up to this position, where the log ends. */
  | { readonly kind: 'empty'; readonly upTo: bigint }
  /** Position of the first event in the namespace's streams. */
  | { readonly kind: 'found'; readonly position: bigint };

/** End of the log as a node reports it. The node has searched everything up to there. */
type End = { readonly on: Channel; readonly upTo: bigint };

async function readEnd(connection: Connection): Promise<End> {
  const { reader, retryLimits } = connection;
  const on = await withDeadline(reader.channel.current(), retryLimits.deadlineMs);
  return { on, upTo: await readEndOnce(connection, on) };
}

/** Searches for events of the namespace after a position. */
export async function searchAfter(connection: Connection, after: bigint): Promise<Stretch> {
  return searchUpTo(connection, await readEnd(connection), { after, stream: undefined });
}

/** Range of a search: after a position, in the whole namespace or in one stream. */
type Range = { readonly after: bigint; readonly stream: string | undefined };

async function searchUpTo(
  connection: Connection,
  { on, upTo }: End,
  { after, stream }: Range,
): Promise<Stretch> {
  const { reader, retryLimits } = connection;
  if (upTo <= after) return { kind: 'empty', upTo: after };
  const firstAfter = async (from: bigint) => {
    // The page begins with the record at the position itself.
    const page = allRequest({ from: from <= 0n ? 'start' : from, count: 2 }, spaceFilter(connection, stream));
    const events = await readEvents(reader, page, retryLimits.deadlineMs, on);
    return events.map(positionOfEvent).find((position) => position > after);
  };
  const found = await firstAfter(after).catch(async (error: unknown) => {
    if (!isInvalidPosition(error)) throw error;
    return firstAfter(await recordNear(connection, after));
  });
  return found === undefined ? { kind: 'empty', upTo } : { kind: 'found', position: found };
}

/** A subscription that may have caught up, although the server has not reported it. */
export type HeadSubscriber = {
  /** Stream of the subscriber. Default: all streams of the namespace. */
  readonly stream: string | undefined;
  /** Returns the position up to which the log has been searched and handled. */
  at(): bigint;
  /** Returns the position up to which the log has been searched. */
  known(): bigint;
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
    const ranges = new Map<string, Range>();
    const quiet = [...subscribers].filter((subscriber) => subscriber.isQuiet());
    if (quiet.length === 0) return;
    const end = await readEnd(connection);
    for (const { stream, at } of quiet) ranges.set(`${at()} ${stream ?? ''}`, { after: at(), stream });
    for (const { after, stream } of ranges.values()) {
      const stretch = await searchUpTo(connection, end, { after, stream });
      for (const subscriber of quiet)
        if (subscriber.at() === after && subscriber.stream === stream) subscriber.take(stretch);
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
    /** Tells the subscribers of one stream that these are all events of the namespace between two positions. */
    passed(after: bigint, { events, upTo }: Pick<SpaceStep, 'events' | 'upTo'>): void {
      for (const subscriber of subscribers) {
        const { stream } = subscriber;
        const isNext = stream !== undefined && subscriber.known() >= after && subscriber.known() < upTo;
        if (isNext && !events.some(({ streamId }) => streamId === stream))
          subscriber.take({ kind: 'empty', upTo });
      }
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
