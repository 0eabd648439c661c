import { setTimeout as delay } from 'node:timers/promises';
import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  START,
  streamNameFilter,
} from '@kurrent/kurrentdb-client';
import type { EventHandler, StoredEvent, Subscription } from './event-store.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { isSystemEvent, positionOf, type Recorded } from './kurrentdb-event.ts';
import { createInbox, type Inbox, SubscriptionEnded } from './kurrentdb-inbox.ts';
import { isPassing, waitBefore } from './kurrentdb-retry.ts';

export type Follow = {
  readonly after: bigint;
  readonly batchSize: number;
  readonly decode: (event: Recorded) => StoredEvent;
  readonly handle: EventHandler;
};

/** Events that may wait here, twice, for a handler that is busy; then the server is asked to wait. */
const BUFFERED_EVENTS = 256;

/**
 * Follows the space's events with a catch-up subscription to `$all` that the server filters by stream prefix. It goes on
 * behind the last event that was handled, never at one of the server's checkpoints, which run ahead: so whatever ends the
 * call (a lost connection, another leader, a server that drops a slow consumer), it subscribes anew and hands out each event
 * once. It ends when the handler throws or the server refuses for good.
 */
export const followSpace = (connection: Connection, follow: Follow): Subscription => {
  const stop = new AbortController();
  const done = run(connection, follow, stop.signal);
  return {
    done,
    async close() {
      stop.abort();
      await done.catch(() => undefined);
    },
  };
};

const run = async (connection: Connection, follow: Follow, signal: AbortSignal): Promise<void> => {
  let at = follow.after;
  let attempt = 0;
  while (!signal.aborted) {
    const stream = subscribe(connection, at, follow.batchSize);
    const inbox = createInbox<AllStreamResolvedEvent>(stream, signal);
    try {
      for (
        let next = await take(inbox, follow, at);
        next !== undefined;
        next = await take(inbox, follow, at)
      ) {
        if (next.events.length > 0) await follow.handle(next.events, next.at);
        at = next.at;
        attempt = 0;
      }
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
      attempt += 1;
      await pause(connection, error.reason, attempt, signal);
    } finally {
      inbox.close();
      leave(stream);
    }
  }
};

/** Why a subscription has to be made anew. */
class Dropped extends Error {
  readonly reason: Error;
  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

const subscribe = ({ client, prefix }: Connection, after: bigint, batchSize: number): AllStreamSubscription =>
  client.subscribeToAll(
    {
      fromPosition: after <= 0n ? START : { commit: after, prepare: after },
      filter: streamNameFilter({ prefixes: [prefix] }),
    },
    { highWaterMark: Math.min(batchSize, BUFFERED_EVENTS) },
  );

type Batch = {
  readonly events: readonly StoredEvent[];
  /** Position of the last event taken, the server's own included. */
  readonly at: bigint;
};

const take = async (
  inbox: Inbox<AllStreamResolvedEvent>,
  { batchSize, decode }: Follow,
  after: bigint,
): Promise<Batch | undefined> => {
  const taken = await inbox.next(batchSize).catch((error: Error) => {
    throw isPassing(error) || error instanceof SubscriptionEnded ? new Dropped(error) : error;
  });
  if (taken === undefined) return undefined;
  const recorded = taken.flatMap(({ event }) => event ?? []).filter((event) => positionOf(event) > after);
  const last = recorded.at(-1);
  return {
    events: recorded.filter((event) => !isSystemEvent(event)).map(decode),
    at: last === undefined ? after : positionOf(last),
  };
};

const pause = async (
  { patience }: Connection,
  error: Error,
  attempt: number,
  signal: AbortSignal,
): Promise<void> => {
  const retryInMs = waitBefore(attempt);
  patience.onTrouble({ operation: 'subscription', error, attempt, retryInMs });
  await delay(retryInMs, undefined, { signal }).catch(() => undefined);
};

/** Ends the call without waiting for it: it may not even have begun. */
const leave = (stream: AllStreamSubscription): void => {
  stream.unsubscribe().catch(() => undefined);
  stream.destroy();
};
