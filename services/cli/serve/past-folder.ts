import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../shared/make-folder.ts';
import { namesInFolder } from '../../../shared/names-in-folder.ts';
import { isFileLocked, tryLockFile } from '../../../shared/sqlite/lock-file.ts';
import { folderOfPasts } from '../../past/past-files.ts';
import { isPaused } from '../../supervisor/is-paused.ts';

const WORLD = /^world-(\d+)$/;

/**
 * Removes the folders that processes of an earlier worker have left. Such a process ends with its worker, unless a signal has stopped it: then it
 * is killed. No other worker of the data directory may be running.
 */
export function removePastFolders(data: string): void {
  for (const name of namesInFolder(folderOfPasts(data))) {
    const pid = Number(WORLD.exec(name)?.[1]);
    if (Number.isNaN(pid)) continue;
    // The lock proves that this process has made the folder, and not another one with its number.
    const isRunning = isFileLocked(lockOf(data, pid));
    if (isRunning && !isPaused(pid)) continue;
    if (isRunning) process.kill(pid, 'SIGKILL');
    removePastFolder(data, pid);
  }
}

/** Removes the folder of a process that has ended. */
export function removePastFolder(data: string, pid: number): void {
  rmSync(folderOf(data, pid), { recursive: true, force: true });
}

/** Makes the folder of this process, and removes it when the process ends. */
export function makePastFolder(data: string): string {
  const folder = folderOf(data, process.pid);
  makeFolder(folderOfPasts(data));
  // A killed process may have had the same number.
  rmSync(folder, { recursive: true, force: true });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { mode: 0o700 });
  tryLockFile(lockOf(data, process.pid));
  return folder;
}

function folderOf(data: string, pid: number): string {
  return join(folderOfPasts(data), `world-${pid}`);
}

function lockOf(data: string, pid: number): string {
  return join(folderOf(data, pid), 'lock');
}
