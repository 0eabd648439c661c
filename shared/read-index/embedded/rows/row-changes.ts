import type { Watchers } from '../lists/watchers.ts';
import type { Step } from './row-set.ts';
import { fewStartsOf } from './step-ends.ts';

/** Rows that changed, in order. `first`: number of the first one, because old ones are dropped. */
type ChangeLog = { readonly rows: number[]; first: number };

/** Logs of the columns and links that kept results depend on. A change costs the same whatever the number of these results. */
export type ChangeLogs = Map<Watchers, ChangeLog>;

/** Maximum rows of a log. A result that did not read them in time is made again. */
export const LOGGED_ROWS = 16_384;

/** Changes of one column, or of one side of links, as they affect the rows of a row set. `seen`: number of the next change to read. */
export type WatchedChanges = {
  readonly log: ChangeLog;
  readonly steps: readonly Step[];
  seen: number;
};

/** Watches changes from now on. `steps` lead from the affected rows to the rows that the watchers report. */
export function watchChanges(
  logs: ChangeLogs,
  watchers: Watchers,
  steps: readonly Step[] = [],
): WatchedChanges {
  const log = logs.get(watchers) ?? createLog(logs, watchers);
  return { log, steps, seen: endOf(log) };
}

/** Returns whether nothing has changed since the last `takeAffected`. */
export function isUnchanged(watched: readonly WatchedChanges[]): boolean {
  return watched.every(({ log, seen }) => seen === endOf(log));
}

/**
 * Returns the rows that changes have affected since the last call; undefined if they, or the rows on the way to them, are more than `most`,
 * or if changes were dropped.
 */
export function takeAffected(watched: readonly WatchedChanges[], most: number): Set<number> | undefined {
  const affected = new Set<number>();
  let isKnown = true;
  for (const each of watched) {
    const { log, steps, seen } = each;
    each.seen = endOf(log);
    isKnown &&= seen >= log.first;
    for (let at = seen - log.first; isKnown && at < log.rows.length; at++) {
      const starts = fewStartsOf(steps, log.rows[at] as number, most);
      for (const row of starts ?? []) affected.add(row);
      isKnown = starts !== undefined && affected.size <= most;
    }
  }
  return isKnown ? affected : undefined;
}

function endOf({ first, rows }: ChangeLog): number {
  return first + rows.length;
}

function createLog(logs: ChangeLogs, watchers: Watchers): ChangeLog {
  const log: ChangeLog = { rows: [], first: 0 };
  watchers.add((row) => {
    if (log.rows.push(row) <= LOGGED_ROWS) return;
    log.first = endOf(log);
    log.rows.length = 0;
  });
  logs.set(watchers, log);
  return log;
}
