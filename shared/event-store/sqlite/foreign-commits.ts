import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Watches for commits of other processes to an SQLite file. */
export type ForeignCommits = { close(): void };

/** Interval while the file is being written. One check costs a few microseconds. */
const BUSY_LOOK_MS = 4;
/** Longer than a commit takes from its first byte in the file until other processes see it. */
const BUSY_FOR_MS = 250;
/** Milliseconds between looks otherwise, in case the file system reports a change late, or not at all. */
const IDLE_LOOK_MS = 100;

/**
 * Calls `look` until closed; it returns whether it found something. The calls come every few milliseconds while the write-ahead log is
 * being written, and rarely otherwise. The change of the file alone is not enough. It comes before the commit is visible, and nothing
 * changes afterwards.
 */
export function watchForeignCommits(path: string, look: () => boolean): ForeignCommits {
  let busyUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;

  const beBusy = () => {
    // Stops watching while it checks regularly, because a notification of each write costs more than a check.
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
}

/** Watches the folder, because the write-ahead log is created and deleted. Returns undefined if the system cannot watch files. */
function watchFolder(folder: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => changed(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
