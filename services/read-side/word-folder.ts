import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../shared/make-folder.ts';
import { isOtherProcess } from '../../shared/other-process.ts';
import type { WordFiles } from '../../shared/read-index/embedded/stored-words.ts';

const READ_AT_ONCE = 2 ** 20;
const PART = /\.(\d+)\.part$/;

/**
 * Creates files of words in a folder. Several processes may read and write the folder, because a file is replaced as a whole. Files are not
 * synced to the disk, because readers check their digests. If there is no space, nothing is stored.
 */
export function createWordFolder(folder: string): WordFiles {
  let isClean = false;
  const fileOf = (name: string) => join(folder, name.replaceAll(/[^\w.-]/g, '-'));
  return {
    read: (name) => readInSteps(fileOf(name)),
    has: (name) => existsSync(fileOf(name)),
    async write(name, bytes) {
      const part = `${fileOf(name)}.${process.pid}.part`;
      try {
        makeFolder(folder);
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

/** Reads a file in steps. If the file is replaced between two steps, the old file is read to its end. */
function* readInSteps(path: string): Generator<void, Uint8Array<ArrayBuffer> | undefined, void> {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = new Uint8Array(fstatSync(file).size);
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, Math.min(READ_AT_ONCE, bytes.length - at), at);
      if (read === 0) return undefined;
      at += read;
      yield;
    }
    return bytes;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes the parts of files that killed processes have left. */
function removeParts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = PART.exec(name) ?? [];
    if (pid !== undefined && !isOtherProcess(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}
