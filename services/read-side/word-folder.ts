import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOtherProcess } from '../../shared/other-process.ts';
import type { WordFiles } from '../../shared/read-index/embedded/stored-words.ts';

const PART = /\.(\d+)\.part$/;

/**
 * Files of words in a folder. Several processes may read and write it: a file is replaced as a whole. It is not brought to the disk at
 * once, because its readers check its digest. Without space nothing is stored.
 */
export function createWordFolder(folder: string): WordFiles {
  let isClean = false;
  const fileOf = (name: string) => join(folder, name.replaceAll(/[^\w.-]/g, '-'));
  return {
    read(name) {
      try {
        return new Uint8Array(readFileSync(fileOf(name)));
      } catch {
        return undefined;
      }
    },
    has: (name) => existsSync(fileOf(name)),
    async write(name, bytes) {
      const part = `${fileOf(name)}.${process.pid}.part`;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isClean) removeParts(folder);
        isClean = true;
        await writeFile(part, bytes, { mode: 0o600 });
        await rename(part, fileOf(name));
      } catch {
        await rm(part, { force: true }).catch(() => {});
      }
    },
  };
}

/** A process that was killed while it wrote leaves a part of a file. */
function removeParts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = PART.exec(name) ?? [];
    if (pid !== undefined && !isOtherProcess(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}
