import { statSync } from 'node:fs';
import { withLogin } from '../../../shared/access/access-state.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { readAccessUpTo } from '../../access/access-control.ts';
import { isLoopback } from '../../http/sockets/loopback.ts';
import {
  type EventStoreOptions,
  type LogSettings,
  logAddress,
  logFile,
  openEventStore,
} from '../../stores/open-event-store.ts';
import { InvalidSettings } from './settings.ts';

type SpaceSettings = LogSettings & { readonly space: string };

/** Runs `use` on the log, which servers may have open at the same time. */
export async function withLog<Result>(
  settings: SpaceSettings,
  use: (log: EventStore) => Promise<Result>,
  options: Partial<EventStoreOptions> = {},
): Promise<Result> {
  const { space } = settings;
  const log = await openEventStore(logAddress(settings), { space, decode: upcast, ...options });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

/** Runs `use` on the log and changes nothing of it. `follows`: later events are visible too. */
export function lookAtLogOf<Result>(
  settings: SpaceSettings,
  use: (log: EventStore) => Promise<Result>,
  options: Partial<EventStoreOptions> = {},
): Promise<Result> {
  return withLog(settings, use, { reads: 'look', ...options });
}

/** Returns false if there is no file yet. A log on a server is assumed to exist. */
function hasLog(settings: LogSettings): boolean {
  const file = logFile(settings);
  return file === undefined || isFound(file);
}

/** Returns whether there is a file or folder. Throws a message if this user may not know. */
export function isFound(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return false;
    throw new Error(`${path} belongs to another user: run varve as that user`);
  }
}

/** Throws a message if there is no log: a typing error must not create one. */
export function requireLog(settings: LogSettings): void {
  if (hasLog(settings)) return;
  const { data, eventStore } = settings;
  if (eventStore === undefined) throw noDataDirectory(data);
  throw new Error(`there is no log at ${eventStore}: start a server on it first, or pass --event-store`);
}

/** Returns the error for a `--data` that is missing or is not a data directory. */
export function noDataDirectory(data: string): Error {
  return new Error(`${data} is not a Varve data directory: start a server on it first, or pass --data`);
}

/**
 * Throws InvalidSettings for an address that other machines can reach while everyone may do everything. Opens the log only if it exists.
 * `willBeSet`: public rights will be set, which ends development mode.
 */
export async function refuseOpenHost(
  { host, ...settings }: SpaceSettings & { readonly host: string },
  willBeSet: boolean,
  login = false,
): Promise<void> {
  if (isLoopback(host) || willBeSet) return;
  if (hasLog(settings)) {
    const state = await withLog(settings, (log) => readAccessUpTo(log, settings.space));
    if (!(login ? withLogin(state) : state).development) return;
  }
  throw new InvalidSettings(
    `--host (VARVE_HOST) "${host}" is not a loopback address, and without access tokens every caller may read and change everything: start once on a loopback address and create a token with varve token create, or pass --public`,
  );
}
