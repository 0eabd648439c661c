import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';

/** One log of its own, empty at first. `open` gives a new connection to it, as another process would have. */
export type TestLog = {
  open(): Promise<EventStore>;
  /** A connection to another space of the same log, with the same names of streams. */
  openNeighbour(): Promise<EventStore>;
  /** Called when all its stores are closed. */
  remove(): Promise<void>;
};

/** Tests that an adapter's server cannot pass, each with the reason. */
export type ContractSkips = {
  /** Appends of 20 MB. */
  readonly largeAppends?: string;
};

/** Abilities in which adapters may differ. */
export type Abilities = {
  /** Default: true. `of its version`: the store says so itself once it is open. */
  readonly checksConditions?: boolean | 'of its version';
  /** Every test shares its log with another space that is written to. Default: false. */
  readonly neighbour?: boolean;
};

/** Gives the test a store on a log of its own; closes every store and removes the log whatever happens. */
export type WithLog = (
  body: (
    store: EventStore,
    open: () => Promise<EventStore>,
    openNeighbour: () => Promise<EventStore>,
  ) => Promise<void>,
) => () => Promise<void>;

/** The store, with another space that gets the first event of every append too. */
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

/** Everything a subscription hands out, how far it has searched, and a way to wait until it has handed out so many events. */
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
