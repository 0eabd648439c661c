import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOtherProcess } from '../../shared/other-process.ts';

const NAME = /^scratch-(\d+)-\d+$/;

let count = 0;

/**
 * Runs `use` with the path of a new folder of this process in a data directory, for large files. Removes the folder afterwards, and before
 * that the folders of processes that were killed.
 */
export async function withScratchDirectory<Result>(
  data: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  for (const name of readdirSync(data)) {
    const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(pid) && !isOtherProcess(pid))
      rmSync(join(data, name), { recursive: true, force: true });
  }
  const path = join(data, `scratch-${process.pid}-${++count}`);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
