import type { EventRow } from '../event-codec.ts';

/** The end of the log in memory, which subscribers that have caught up read instead of the file. */
export type RecentEvents = {
  /** Position of the log's last known event. */
  last(): bigint;
  /** True if every event after this position is in memory. */
  covers(after: bigint): boolean;
  /** Returns up to `limit` of these events after this position, in order. */
  after(position: bigint, limit: number): readonly EventRow[];
  /** Adds a commit after the event at `before`, unless the log is known to contain it. */
  push(before: bigint, rows: readonly EventRow[]): void;
  /** Forgets everything: the log has grown to `last` by events that are not here. */
  restart(last: bigint): void;
};

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 16_000_000;

/** Creates an empty memory. `last`: position of the last event of the log. */
export function createRecentEvents(last: bigint): RecentEvents {
  let rows: EventRow[] = [];
  let characters = 0;
  /** The position after which every event is in `rows`. */
  let start = last;

  const end = () => rows.at(-1)?.[0] ?? start;
  const restart = (at: bigint) => {
    rows = [];
    characters = 0;
    start = at;
  };
  const forgetOlderHalf = () => {
    const gone = rows.splice(0, Math.ceil(rows.length / 2));
    for (const row of gone) characters -= size(row);
    start = gone.at(-1)?.[0] ?? start;
  };
  return {
    last: end,
    covers: (after) => after >= start,
    after(position, limit) {
      const from = firstAfter(rows, position);
      return rows.slice(from, from + limit);
    },
    push(before, added) {
      // A look at the file may have found the commit, and later ones, before its writer reported it.
      if ((added.at(-1)?.[0] ?? before) <= end()) return;
      if (before !== end()) restart(before);
      for (const row of added) {
        rows.push(row);
        characters += size(row);
      }
      while (rows.length > MAX_EVENTS || characters > MAX_CHARACTERS) forgetOlderHalf();
    },
    restart,
  };
}

function size(row: EventRow): number {
  return row[5].length + row[6].length;
}

/** Index of the first row with a greater position, by halving. */
function firstAfter(rows: readonly EventRow[], position: bigint): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as EventRow)[0] > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
