import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../shared/make-folder.ts';
import { isOtherProcess } from '../../../shared/other-process.ts';

/** Folder of everything that pasts need. */
function foldersOfPasts(data: string): string {
  return join(data, 'past');
}

const WORLD = /^world-(\d+)$/;

/** Removes the folders of processes that have ended. */
export function removePastFolders(data: string): void {
  const folders = foldersOfPasts(data);
  for (const name of namesIn(folders)) {
    const pid = WORLD.exec(name)?.[1];
    if (pid !== undefined && !isOtherProcess(Number(pid))) removePastFolder(data, Number(pid));
  }
}

/** Removes the folder of a process that has ended. */
export function removePastFolder(data: string, pid: number): void {
  rmSync(folderOf(data, pid), { recursive: true, force: true });
}

/** Makes the folder of this process, and removes it when the process ends. */
export function makePastFolder(data: string): string {
  const folder = folderOf(data, process.pid);
  makeFolder(foldersOfPasts(data));
  // A killed process may have had the same number.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function folderOf(data: string, pid: number): string {
  return join(foldersOfPasts(data), `world-${pid}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
