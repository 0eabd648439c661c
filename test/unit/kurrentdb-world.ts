import { randomUUID } from 'node:crypto';
import type { EventStore, StoredEvent, Trouble } from '../../shared/event-store/event-store.ts';
import {
  type KurrentDbEventStoreOptions,
  openKurrentDbEventStore,
} from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import type { LogRecord } from '../support/kurrentdb/double-record.ts';
import {
  type KurrentDbDouble,
  type KurrentDbDoubleOptions,
  startKurrentDbDouble,
} from '../support/kurrentdb/kurrentdb-double.ts';

/** A double of a server with stores on it, and the troubles that the stores reported. `end` closes all. */
export type KurrentDbWorld = {
  readonly double: KurrentDbDouble;
  readonly store: EventStore;
  readonly troubles: Trouble[];
  open(options?: Partial<KurrentDbEventStoreOptions>): EventStore;
  /** Starts another node of the same cluster. */
  addNode(): Promise<KurrentDbDouble>;
  end(): Promise<void>;
};

export type WorldOptions = KurrentDbDoubleOptions & {
  readonly store?: Partial<KurrentDbEventStoreOptions>;
  /** Returns the URL with which the store is opened. Default: the double's, which has no credentials. */
  readonly url?: (double: KurrentDbDouble) => string;
};

export const startWorld = async (options: WorldOptions = {}): Promise<KurrentDbWorld> => {
  const double = await startKurrentDbDouble(options);
  const doubles = [double];
  const stores: EventStore[] = [];
  const troubles: Trouble[] = [];
  const open = (more: Partial<KurrentDbEventStoreOptions> = {}) => {
    const store = openKurrentDbEventStore(options.url?.(double) ?? double.url, {
      space: 'varve',
      onTrouble: (trouble) => troubles.push(trouble),
      ...options.store,
      ...more,
    });
    stores.push(store);
    return store;
  };
  return {
    double,
    store: open(),
    troubles,
    open,
    async addNode() {
      const node = await startKurrentDbDouble({ ...options, log: double.log });
      doubles.push(node);
      return node;
    },
    async end() {
      await Promise.all(stores.map((store) => store.close()));
      for (const node of doubles) node.stop();
    },
  };
};

export const streamOf = (space = 'varve'): string => `${space}.api_thing_thing-${randomUUID()}`;

/** Returns a promise and the function that resolves it. */
export const gate = (): { readonly passed: Promise<void>; readonly open: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
};

export const lastOf = (events: readonly StoredEvent[]): StoredEvent => {
  const last = events.at(-1);
  if (last === undefined) throw new Error('there is no event');
  return last;
};

/** Returns the record with another id. */
export const withNewId = (record: LogRecord | undefined): LogRecord => {
  if (record === undefined) throw new Error('there is no record');
  return { ...record, id: randomUUID() };
};
