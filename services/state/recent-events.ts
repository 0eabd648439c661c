import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents, subscribeToRaw } from '../../shared/event-store/raw-events.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { type EventConditions, isAsked, type ListedEvent, presentListed } from './listed-event.ts';

/** `after` and `before` are positions, which are not included. */
export type EventQuery = EventConditions & {
  readonly after: bigint;
  readonly before?: bigint | undefined;
  readonly limit: number;
};

export type EventPage = {
  readonly events: readonly ListedEvent[];
  /** Position down to which the log was searched: `before` of the next page. null: there are no earlier events. */
  readonly searchedTo: bigint | null;
};

/** Events that one request reads at most, roughly: a rare type may have none among them. */
const MOST_SEARCHED = 20_000;

/** Returns the newest events, the newest first. Reads the log backwards in ranges that grow until there are enough. */
export async function listEvents(
  log: Pick<EventStore, 'readAll' | 'lastPosition'>,
  registry: SchemaRegistry,
  { after, before, limit, ...conditions }: EventQuery,
): Promise<EventPage> {
  let until = before === undefined ? await log.lastPosition() : before - 1n;
  let range = BigInt(limit) * 2n;
  let searched = 0;
  const found: StoredEvent[] = [];
  while (until > after && found.length < limit && searched < MOST_SEARCHED) {
    const from = until - range > after ? until - range : after;
    const part: StoredEvent[] = [];
    for await (const event of rawEvents(log, from, { until })) {
      searched++;
      if (isAsked(event, conditions)) part.push(event);
    }
    found.push(...part.reverse());
    until = from;
    range *= 2n;
  }
  const events = found.slice(0, limit);
  const last = found.length > limit ? events.at(-1)?.position : until + 1n;
  return {
    events: events.map((event) => presentListed(event, registry)),
    searchedTo: last === undefined || last <= after + 1n ? null : last,
  };
}

/** Returns the event at a position; undefined if the namespace has none there. */
export async function readEvent(
  log: Pick<EventStore, 'readAll'>,
  position: bigint,
): Promise<StoredEvent | undefined> {
  for await (const event of rawEvents(log, position - 1n, { until: position })) return event;
  return undefined;
}

type Delivery = { readonly events: readonly StoredEvent[]; readonly taken: () => void };

/** Yields new events after a position as they are stored, the oldest first, until `signal` is aborted. */
export async function* subscribeToEvents(
  log: Pick<EventStore, 'subscribe'>,
  registry: SchemaRegistry,
  { after, ...conditions }: EventConditions & { readonly after: bigint },
  signal: AbortSignal,
): AsyncGenerator<readonly ListedEvent[]> {
  let next = Promise.withResolvers<Delivery>();
  const subscription = subscribeToRaw(log, { after }, (events) => {
    const taken = Promise.withResolvers<void>();
    next.resolve({ events, taken: taken.resolve });
    return taken.promise;
  });
  subscription.done.catch((error: unknown) => next.reject(error));
  try {
    for (;;) {
      const delivery = await untilAborted(next.promise, signal);
      if (delivery === undefined) return;
      const asked = delivery.events.filter((event) => isAsked(event, conditions));
      if (asked.length > 0) yield asked.map((event) => presentListed(event, registry));
      next = Promise.withResolvers();
      delivery.taken();
    }
  } finally {
    // A handler that waits for its events to be taken would hold up the end.
    next.promise.then(
      ({ taken }) => taken(),
      () => {},
    );
    await subscription.close();
  }
}
