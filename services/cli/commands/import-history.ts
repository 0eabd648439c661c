import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { lockDataDirectory } from '../../../shared/sqlite/lock-data-directory.ts';
import type { LogSettings } from '../../stores/open-event-store.ts';
import { importExport, isExport } from '../../transfer/import-export.ts';
import { isJsonArray, linesOf } from '../../transfer/import-lines.ts';
import { showProgress } from '../output/import-progress.ts';
import { presentRate } from '../output/present-amounts.ts';
import { withLog } from '../settings/access-log.ts';

/** Returns whether a file was written by `varve export`. */
export async function isExportFile(file: string): Promise<boolean> {
  // An array may be one long line.
  if (isJsonArray(file)) return false;
  for await (const line of linesOf(file)) return isExport(line);
  return false;
}

/** `varve import` of an export: its whole history, in an unused data directory. */
export async function importHistory(
  file: string,
  settings: LogSettings & { readonly space: string },
): Promise<void> {
  const lock = lockDataDirectory(settings.data);
  try {
    await withLog(settings, (log) => importEvents(file, log, settings.space), { threaded: true });
  } finally {
    lock.release();
  }
}

async function importEvents(file: string, log: EventStore, space: string): Promise<void> {
  const started = performance.now();
  const progress = showProgress(await countLines(file));
  const lines = () => linesOf(file);
  const events = await importExport({ log, space, lines, onEvents: progress.advance }).finally(progress.end);
  console.log(presentRate(events, 'events', started));
}

async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const _ of linesOf(file)) count++;
  return count;
}
