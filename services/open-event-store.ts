import type { Decode } from '../shared/event-store/event-codec.ts';
import type { EventStore } from '../shared/event-store/event-store.ts';
import type { Trouble } from '../shared/event-store/kurrentdb-retry.ts';
import { openSqliteEventStore } from '../shared/event-store/sqlite-event-store.ts';

export type EventStoreOptions = {
  readonly space: string;
  /** Applied to every event read. Default: as stored. */
  readonly decode?: Decode;
  /** Hears of calls to KurrentDB that are tried again. */
  readonly onTrouble?: (trouble: Trouble) => void;
};

const KURRENTDB = /^(esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\//;

/**
 * The event store of an address: `sqlite:FILE` (made when it is not there; relative to the working directory) or
 * `kurrentdb://…`, `kurrentdb+discover://…` with the query parameters of KurrentDB's connection strings, `esdb://…` too.
 * KurrentDB is not connected to before the first call, and its client (40 MB, some 0.3 s) not loaded for SQLite. Rejects when
 * the address is another or the file cannot be opened.
 */
export const openEventStore = async (url: string, options: EventStoreOptions): Promise<EventStore> => {
  if (KURRENTDB.test(url)) {
    const { openKurrentDbEventStore } = await import('../shared/event-store/kurrentdb-event-store.ts');
    return openKurrentDbEventStore(url, options);
  }
  const [, path] = /^sqlite:(.+)$/.exec(url) ?? [];
  if (path === undefined) {
    const scheme = /^[a-z+]+:(?=\/\/)/i.exec(url)?.[0];
    const found = scheme === undefined ? 'this address' : `an address that begins with ${scheme}`;
    throw new Error(`${found} names no event store: use sqlite:FILE or kurrentdb://HOST:PORT`);
  }
  const { decode } = options;
  return openSqliteEventStore(path, decode === undefined ? {} : { decode });
};
