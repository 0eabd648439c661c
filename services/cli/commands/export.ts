import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../../shared/make-folder.ts';
import { exportLog } from '../../transfer/export-log.ts';
import { presentRate } from '../output/present-amounts.ts';
import { writeLines } from '../output/write-lines.ts';
import { requireLog, withLog } from '../settings/access-log.ts';
import type { LogOnlySettings } from '../settings/settings.ts';

/** `varve export`: writes to a new file, or to stdout (`-`). Reads the log itself, which servers may have open. */
export async function exportTo(settings: LogOnlySettings, file: string): Promise<void> {
  requireLog(settings);
  if (file === '') throw new Error('the name of the file is empty: name a new file, or - for stdout');
  if (file !== '-' && existsSync(file)) throw new Error(`${file} exists already: name another file`);
  await withLog(settings, async (log) => {
    const started = performance.now();
    // The header and the ending are lines too, but no events.
    let events = -2;
    const counted = async function* () {
      for await (const line of exportLog(log, settings.space)) {
        events++;
        yield line;
      }
    };
    if (file === '-') return writeLines(process.stdout, counted());
    const part = `${file}.part`;
    makeFolder(dirname(file), 0o777);
    rmSync(part, { force: true });
    await writeLines(createWriteStream(part, { mode: 0o600, flush: true }), counted());
    renameSync(part, file);
    console.log(presentRate(events, 'events', started));
  });
}
