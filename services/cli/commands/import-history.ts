import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { lockDataDirectory } from '../../../shared/sqlite/lock-data-directory.ts';
import type { LogSettings } from '../../stores/open-event-store.ts';
import { importExport, isExport } from '../../transfer/import-export.ts';
import { showProgress } from '../output/import-progress.ts';
import { presentRate } from '../output/present-amounts.ts';
import { withLog } from '../settings/access-log.ts';

/** Returns whether a file was written by `varve export`. */
export async function isExportFile(file: string): Promise<boolean> {
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
    const { space } = settings;
    const started = performance.now();
    const progress = showProgress(await countLines(file));
    const all = { space, lines: () => linesOf(file), onEvents: progress.advance };
    const events = await withLog(settings, (log) => importExport({ log, ...all }), { threaded: true });
    progress.end();
    console.log(presentRate(events, 'events', started));
  } finally {
    lock.release();
  }
}

async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const _ of linesOf(file)) count++;
  return count;
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}
