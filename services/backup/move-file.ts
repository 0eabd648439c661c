import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../shared/make-folder.ts';
import { copyFile } from './copy-file.ts';

/** Moves a file, over one that is there, also to another disk. */
export async function moveFile(from: string, to: string): Promise<void> {
  makeFolder(dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
