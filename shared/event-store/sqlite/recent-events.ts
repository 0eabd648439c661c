import { firstWhere } from '../../first-where.ts';
import type { EventRow } from '../event-codec.ts';
import { charactersOf } from './sqlite-log.ts';

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 16_000_000;

/**
 * Creates a memory for the end of the log, which is empty at first. Subscribers that have caught up read it in place of the file. `last`:
 * position of the last event of the log.
 */
export function createRecentEvents(last: bigint) {
  let rows: EventRow[] = [];
  let characters = 0;
  /** Position after which every event is in `rows`. */
  let start = last;

  const end = () => rows.at(-1)?.[0] ?? start;
  const restart = (at: bigint) => {
    rows = [];
    characters = 0;
    start = at;
  };
  const forgetOlderHalf = () => {
    const gone = rows.splice(0, Math.ceil(rows.length / 2));
    for (const row of gone) characters -= charactersOf(row);
    start = gone.at(-1)?.[0] ?? start;
  };
  return {
    /** Returns the position of the log's last known event. */
    last: end,
    /** Returns true if every event after this position is in memory. */
    covers: (after: bigint) => after >= start,
    /** Returns up to `limit` events in memory after this position, in order. */
    after(position: bigint, limit: number): readonly EventRow[] {
      const from = firstWhere(rows.length, (at) => (rows[at] as EventRow)[0] > position);
      return rows.slice(from, from + limit);
    },
    /** Adds a commit after the event at `before`, unless the log is known to contain it. */
    push(before: bigint, added: readonly EventRow[]): void {
      // A check of the file may have found this commit and later ones before its writer reported it.
      if ((added.at(-1)?.[0] ?? before) <= end()) return;
      if (before !== end()) restart(before);
      for (const row of added) {
        rows.push(row);
        characters += charactersOf(row);
      }
      while (rows.length > MAX_EVENTS || characters > MAX_CHARACTERS) forgetOlderHalf();
    },
    /** Forgets all events: the log has grown to this position by events that are not in memory. */
    restart,
  };
}
