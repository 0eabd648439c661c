import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOtherProcess } from '../../shared/other-process.ts';

const NAME = /^scratch-(\d+)-\d+$/;

let count = 0;
/** Folders that this process uses. */
const used = new Set<string>();

/**
 * Runs `use` with the path of a new folder of this process in a data directory, for large files. Removes the folder afterwards, and before
 * that the folders of processes that were killed.
 */
export async function withScratchDirectory<Result>(
  data: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  removeLeftScratch(data);
  const path = join(data, `scratch-${process.pid}-${++count}`);
  rmSync(path, { recursive: true, force: true });
  used.add(path);
  try {
    mkdirSync(path, { mode: 0o700 });
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
    used.delete(path);
  }
}

/** Removes the folders in a data directory of processes that were killed. */
export function removeLeftScratch(data: string): void {
  for (const name of readdirSync(data)) {
    const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    const path = join(data, name);
    if (Number.isNaN(pid) || isOtherProcess(pid) || used.has(path)) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
