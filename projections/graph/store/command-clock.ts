import type { GraphDatabase } from './graph-database.ts';

/** A longer step means that a clock was set, or that there were no commands. The two cannot be distinguished. */
const LONGEST_STEP_MS = 60_000;
/** Time that is counted for such a step. It is enough for a log with few commands to forget them eventually. */
const UNCERTAIN_STEP_MS = 100;

const NOW = 'commands_now';
const WRITTEN = 'commands_written';

/**
 * Opens the clock in a graph's file. It starts at 0 in a new one. It is the time between commands, by the clocks that wrote their events,
 * if they are plausible. It counts milliseconds and never runs backwards. Each time that a clock is set, it gets at most a minute ahead of
 * real time.
 */
export function openCommandClock(db: GraphDatabase) {
  let now = db.meta(NOW) ?? 0;
  let latest = db.meta(WRITTEN);
  let stored = now;
  return {
    /** Returns the time at a command. `written`: by its event's clock, in milliseconds since 1970. */
    at(written: number): number {
      const step = written - (latest ?? written);
      if (step > LONGEST_STEP_MS) now += UNCERTAIN_STEP_MS;
      else if (step > 0) now += step;
      // If the time is a little earlier, other commands were written in between. If it is much earlier, the clock was set.
      if (step > 0 || step < -LONGEST_STEP_MS || latest === undefined) latest = written;
      return now;
    },
    now: () => now,
    /** Must run in the transaction of the events. */
    flush(): void {
      // A crash loses the time since the last write of the total, so commands are remembered longer.
      if (latest === undefined || (stored !== 0 && now - stored < LONGEST_STEP_MS)) return;
      db.setMeta(NOW, now);
      db.setMeta(WRITTEN, latest);
      stored = now;
    },
  };
}
