import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { upcast } from '../../shared/document/upcasters.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite-event-store.ts';
import { readAccess } from '../access/access-control.ts';
import { isLoopback } from '../http/loopback.ts';
import { InvalidSettings } from './settings.ts';

type LogSettings = { readonly data: string; readonly space: string };

/** Runs `use` on the log of a data directory, which a server may have open at the same time. */
export async function withLog<Result>(
  data: string,
  use: (log: EventStore) => Promise<Result>,
): Promise<Result> {
  const log = openSqliteEventStore(logFile(data), { decode: upcast });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

export function hasLog(data: string): boolean {
  return existsSync(logFile(data));
}

/**
 * Throws InvalidSettings for an address that others can reach while everyone may do everything. Opens nothing that is not
 * there. `willBeSet`: rights of anonymous callers are about to be set, which ends development mode.
 */
export async function refuseOpenHost(
  { host, ...settings }: LogSettings & { readonly host: string },
  willBeSet: boolean,
): Promise<void> {
  if (isLoopback(host) || willBeSet) return;
  if (hasLog(settings.data)) {
    const { development } = await withLog(settings.data, (log) => readAccess(log, settings.space));
    if (!development) return;
  }
  throw new InvalidSettings(
    `  --host (VARVE_HOST) "${host}" is not a loopback address, and without access tokens whoever reaches it may read and change everything: make one with varve token create, or say with --public what everyone may do`,
  );
}

function logFile(data: string): string {
  return join(data, 'events.db');
}
