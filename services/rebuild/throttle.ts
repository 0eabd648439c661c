import { setTimeout as delay } from 'node:timers/promises';
import type { LoadSample } from '../operator/watch-load.ts';

/** Leaves time to others between pieces of work. */
export type Throttle = ReturnType<typeof createThrottle>;

/**
 * Share of the time that a rebuild works, derived from how long requests wait in the server and take. `delayMs` is their 99th
 * percentile, sampled twice a second (see LoadSample).
 */
export type Pace = {
  /** Share of the time, up to 1. */
  readonly share: number;
  /** The delay without the rebuild; undefined: not known yet. */
  readonly before: number | undefined;
  /** Samples in a row for which the delay did not fall although the rebuild was throttled; while it pauses, since it does. */
  readonly crowded: number;
};

export const FULL_PACE: Pace = { share: 1, before: undefined, crowded: 0 };

/**
 * By which a delay may grow: half of the fifth that it is to stay below, and milliseconds that are the operating system's. Where
 * nobody asks, timers are late by more of them, which nobody notices.
 */
const TOLERATED = 1.1;
const TOLERATED_MS = { asked: 0.25, idle: 1 };
/**
 * Where nobody asks, the timers of a machine that others keep busy too are late now and then, whatever the rebuild does: it would
 * crawl for nobody's sake.
 */
const LEAST_SHARE = { asked: 0.05, idle: 0.3 };
/** Once the delay is known: what is too much shows two seconds late. */
const FIRST_SHARE = 0.3;
/** In small steps: whatever is too much is in the 99th percentile, if it lasts a hundredth of the time. */
const FASTER = 1.2;
const SLOWER = 0.6;
/** After so many samples the load is another one: the rebuild holds still and what is measured then is the new `before`. */
const CROWDED_LIMIT = 8;
/** Samples until one has none of the requests in it that came before the rebuild held still (see LoadSample). */
const STILL_SAMPLES = 5;
const LONGEST_REST = 1_000;
const LONGEST_STILL = 4_000;
const LONGEST_STEP = 250;

/** Returns the next pace: it falls fast and rises slowly. Pure. */
export function nextPace({ share, before, crowded }: Pace, { delayMs, isAsked }: LoadSample): Pace {
  const kind = isAsked ? 'asked' : 'idle';
  if (before === undefined) return { share: FIRST_SHARE, before: delayMs, crowded: 0 };
  if (share === 0) {
    if (crowded + 1 < STILL_SAMPLES) return { share, before, crowded: crowded + 1 };
    return { share: LEAST_SHARE[kind], before: delayMs, crowded: 0 };
  }
  const tolerated = before * TOLERATED + TOLERATED_MS[kind];
  if (delayMs <= tolerated) return { share: Math.min(1, share * FASTER), before, crowded: 0 };
  if (crowded >= CROWDED_LIMIT) return { share: 0, before, crowded: 0 };
  return { share: Math.max(LEAST_SHARE[kind], share * SLOWER), before, crowded: crowded + 1 };
}

/** Creates a throttle. `maxRate`: events a second, whatever the load; undefined: as many as the delay of requests allows. */
export function createThrottle(maxRate: number | undefined) {
  let pace = FULL_PACE;
  const pauseAfter = (events: number, milliseconds: number): number => {
    if (maxRate !== undefined) return (events / maxRate) * 1_000 - milliseconds;
    return Math.min(
      LONGEST_REST,
      (milliseconds * (1 - pace.share)) / Math.max(pace.share, LEAST_SHARE.asked),
    );
  };
  return {
    /** The rebuild does not go as fast as it could, for a server's sake. */
    get isSparing(): boolean {
      return pace.share < 1;
    },
    /** Records the recent load of a server, see `Pace`. */
    observe(sample: LoadSample): void {
      if (maxRate === undefined) pace = nextPace(pace, sample);
    },
    /**
     * After a piece of work of so many events that took so long: resolves when the next may begin. `check` is called now and
     * then meanwhile; when it throws, so does this.
     */
    async rest(events: number, milliseconds: number, check: () => void): Promise<void> {
      check();
      for (let left = pauseAfter(events, milliseconds); left >= 1; left -= LONGEST_STEP) {
        await delay(Math.min(left, LONGEST_STEP));
        check();
      }
      // Not for ever: a server that is gone sends no samples.
      for (let left = LONGEST_STILL; left > 0 && pace.share === 0; left -= LONGEST_STEP) {
        await delay(LONGEST_STEP);
        check();
      }
    },
  };
}
