import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { upcast } from '../../../shared/events/upcasters.ts';
import { lockDataDirectory } from '../../../shared/sqlite/lock-data-directory.ts';
import { type LogSettings, logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { importExport, isExport } from '../../transfer/import-export.ts';
import { showProgress } from '../output/import-progress.ts';
import { presentRate } from '../output/present-amounts.ts';

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
    const log = await openEventStore(logAddress(settings), { space, decode: upcast, threaded: true });
    try {
      const started = performance.now();
      const progress = showProgress(await countLines(file));
      const events = await importExport({
        log,
        space,
        lines: () => linesOf(file),
        onEvents: progress.advance,
      });
      progress.end();
      console.log(presentRate(events, 'events', started));
    } finally {
      await log.close();
    }
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
