import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOtherProcess } from '../../shared/other-process.ts';

const NAME = /^scratch-(\d+)-\d+$/;

let count = 0;

/** Makes a folder of this process in a data directory, for large files. Removes those of processes that were killed. */
export function createScratchDirectory(data: string): { readonly path: string; remove(): void } {
  for (const name of readdirSync(data)) {
    const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(pid) && !isOtherProcess(pid))
      rmSync(join(data, name), { recursive: true, force: true });
  }
  const path = join(data, `scratch-${process.pid}-${++count}`);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
