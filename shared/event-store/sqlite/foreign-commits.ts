import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** A look-out for what other processes commit to an SQLite file. */
export type ForeignCommits = { close(): void };

/** While the file is being written. One look costs a few microseconds. */
const BUSY_LOOK_MS = 4;
/** Longer than a commit takes from its first byte in the file to its end, which is when others see it. */
const BUSY_FOR_MS = 250;
/** In case the file system tells of a change late, or not at all. */
const IDLE_LOOK_MS = 100;

/**
 * Calls `look`, which says whether there was something, until closed: every few milliseconds while the file's write-ahead log
 * is being written, and otherwise hardly ever. That the file changes cannot be the sign itself: it does so before the commit
 * can be seen, and nothing changes after.
 */
export const watchForeignCommits = (path: string, look: () => boolean): ForeignCommits => {
  let busyUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;

  const beBusy = () => {
    // Looking anyway: to be told of each write would cost more than to look.
    watcher?.close();
    watcher = undefined;
    busyUntil = performance.now() + BUSY_FOR_MS;
    pace(BUSY_LOOK_MS);
  };
  const beIdle = () => {
    watcher = watchFolder(dirname(path), (name) => {
      if (name === null || name.startsWith(basename(path))) beBusy();
    });
    if (watcher !== undefined) pace(IDLE_LOOK_MS);
  };
  const pace = (every: number) => {
    clearInterval(timer);
    timer = setInterval(tick, every);
  };
  const tick = () => {
    const found = look();
    if (watcher !== undefined) return;
    if (found) busyUntil = performance.now() + BUSY_FOR_MS;
    else if (performance.now() > busyUntil) beIdle();
  };
  beBusy();
  return {
    close() {
      clearInterval(timer);
      watcher?.close();
    },
  };
};

/** undefined where the system has no watch to give. The folder: the write-ahead log comes and goes. */
const watchFolder = (folder: string, changed: (name: string | null) => void): FSWatcher | undefined => {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => changed(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
};
