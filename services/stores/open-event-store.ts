import { dirname, join, resolve } from 'node:path';
import type { Decode } from '../../shared/event-store/event-codec.ts';
import type { EventStore, Trouble } from '../../shared/event-store/event-store.ts';
import { upgradeLog } from '../../shared/event-store/sqlite/open-log.ts';
import { type LogReads, openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { loadOptional } from '../../shared/load-optional.ts';
import { makeFolder } from '../../shared/make-folder.ts';
import { printTrouble } from './report-trouble.ts';

export type EventStoreOptions = {
  readonly space: string;
  /** Applied to every event read. Default: as stored. */
  readonly decode?: Decode;
  /** SQLite: commits on a separate thread, so that reads continue. */
  readonly threaded?: boolean;
  /** SQLite: reads an existing log, and changes nothing. Default: reads and writes. */
  readonly reads?: LogReads;
  /** Called for retried calls to KurrentDB. Default: writes them to standard error. */
  readonly onTrouble?: (trouble: Trouble) => void;
};

/** Log settings of a command. */
export type LogSettings = {
  readonly data: string;
  /** Address for `openEventStore`; absent: a file in the data directory. */
  readonly eventStore?: string | undefined;
};

/** Returns the address of the log that the settings name. */
export function logAddress({ data, eventStore }: LogSettings): string {
  return eventStore ?? `sqlite:${join(data, 'events.db')}`;
}

/** Returns the file of a log in SQLite; undefined if the log is elsewhere. */
export function logFile(settings: LogSettings): string | undefined {
  return sqliteFile(logAddress(settings));
}

/** Returns the file of an address `sqlite:FILE`; undefined for another address. */
export function sqliteFile(address: string): string | undefined {
  return SQLITE.exec(address)?.[1];
}

/** Returns the folder for files that belong to a log, such as its access key; undefined if the log is on a server. */
export function logFolder(settings: LogSettings): string | undefined {
  const file = logFile(settings);
  return file === undefined ? undefined : dirname(resolve(file));
}

const SQLITE = /^sqlite:(.+)$/;
const KURRENTDB = /^(esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\//;

/**
 * Opens the event store of an address: `sqlite:FILE`, or a connection string of KurrentDB (`kurrentdb://…`,
 * `kurrentdb+discover://…`, `esdb://…`) with its query parameters. FILE is relative to the working directory, and is
 * created if it is missing. The first call connects to KurrentDB, whose client (40 MB, some 0.3 s) is not loaded for
 * SQLite. Rejects if the address has another form or the file cannot be opened.
 */
export async function openEventStore(url: string, options: EventStoreOptions): Promise<EventStore> {
  if (KURRENTDB.test(url)) {
    const { openKurrentDbEventStore } = await loadOptional(
      'a log in KurrentDB',
      () => import('../../shared/event-store/kurrentdb/kurrentdb-event-store.ts'),
    );
    return openKurrentDbEventStore(url, { onTrouble: printTrouble, ...options });
  }
  const [, path] = SQLITE.exec(url) ?? [];
  if (path === undefined) {
    const scheme = /^[a-z+]+:(?=\/\/)/i.exec(url)?.[0];
    const found = scheme === undefined ? 'this address' : `an address that begins with ${scheme}`;
    throw new Error(`${found} must be an event store: use sqlite:FILE or kurrentdb://HOST:PORT`);
  }
  const { space, decode, threaded = false, reads } = options;
  if (reads === undefined) {
    makeFolder(dirname(resolve(path)));
    await upgradeLog(path);
  }
  return openSqliteEventStore(path, { space, threaded, reads, ...(decode && { decode }) });
}
