/** Callbacks for rows that a change affects, such as those of cached sort orders. Usually there are none, which must cost nothing. */
export type Watchers = Set<(row: number) => void>;

/** Creates an empty set of watchers. */
export function createWatchers(): Watchers {
  return new Set();
}

/** Calls every watcher with a row that changed. */
export function notifyWatchers(watchers: Watchers, row: number): void {
  if (watchers.size === 0) return;
  for (const watcher of watchers) watcher(row);
}
