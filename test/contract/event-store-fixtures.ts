import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';

/** A new log, empty at first. `open` returns a new connection, as another process would have. */
export type TestLog = {
  open(): Promise<EventStore>;
  /** Opens a connection to another namespace of the same log, with the same names of streams. */
  openNeighbour(): Promise<EventStore>;
  /** Removes the log. Called when all its stores are closed. */
  remove(): Promise<void>;
};

/** Tests that an adapter's server cannot pass, each with the reason. */
export type ContractSkips = {
  /** Appends of 20 MB. */
  readonly largeAppends?: string;
};

/** Abilities in which adapters may differ. */
export type Abilities = {
  /** True if the store checks conditions of appends. Default: true. `of its version`: the opened store reports it. */
  readonly checksConditions?: boolean | 'of its version';
  /** True if every test shares its log with another namespace that gets events too. Default: false. */
  readonly neighbour?: boolean;
};

/** Runs a test with a store on a new log. Always closes every store and removes the log afterwards. */
export type WithLog = (
  body: (
    store: EventStore,
    open: () => Promise<EventStore>,
    openNeighbour: () => Promise<EventStore>,
  ) => Promise<void>,
) => () => Promise<void>;

/** Wraps a store, so that the first event of every append is also appended to another namespace. */
export const withNeighbour = (store: EventStore, neighbour: EventStore): EventStore => ({
  ...store,
  async append(stream, expected, events, condition) {
    const result = await store.append(stream, expected, events, condition);
    const [event] = events;
    const isCopied = event !== undefined && JSON.stringify(event.data).length < 1_000;
    if (isCopied) await neighbour.append(`${stream}-copy`, 'any', [{ ...event, id: randomUUID() }]);
    return result;
  },
});

export const newEvent = (data: unknown = {}, id: string = randomUUID()): NewEvent => ({
  id,
  type: 'entry-changed',
  data,
  metadata: { schemaVersion: 1, at: '2026-03-04T05:06:07.089Z', epoch: 0 },
});

export const newEvents = (count: number): readonly NewEvent[] =>
  Array.from({ length: count }, (_, n) => newEvent({ n }));

export const newStream = (): string => `varve.test-${randomUUID()}`;

export const readStream = async (
  store: EventStore,
  stream: string,
  from?: bigint,
): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for await (const event of store.readStream(stream, from)) events.push(event);
  return events;
};

export const readAll = async (store: EventStore, after = 0n, batchSize?: number): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  const options = batchSize === undefined ? {} : { batchSize };
  for await (const batch of store.readAll(after, options)) events.push(...batch);
  return events;
};

/** Subscribes, and collects the events and the searched positions. Can wait until there are so many events. */
export const collect = (store: EventStore, after = 0n, batchSize?: number) => {
  const events: StoredEvent[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const searched: bigint[] = [];
  const handle = async (batch: readonly StoredEvent[], upTo: bigint) => {
    events.push(...batch);
    searched.push(upTo);
    for (const { count, resolve } of waiting) if (events.length >= count) resolve();
  };
  const subscription = store.subscribe(after, handle, batchSize === undefined ? {} : { batchSize });
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      if (events.length >= count) resolve();
      else waiting.push({ count, resolve });
    });
  const until = (count: number) => Promise.race([reached(count), subscription.done]);
  return { events, searched, subscription, until };
};

export const positions = (events: readonly StoredEvent[]): bigint[] => events.map((event) => event.position);
export const ids = (events: readonly { readonly id: string }[]): string[] => events.map((event) => event.id);
