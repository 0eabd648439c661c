import { setTimeout as delay } from 'node:timers/promises';

/** Leaves time to others between pieces of work. */
export type Throttle = {
  /** A server's delay of late, see `Pace`. */
  observe(delayMs: number): void;
  /**
   * After a piece of work of so many events that took so long: resolves when the next may begin. `check` is called now and
   * then meanwhile; when it throws, so does this.
   */
  rest(events: number, milliseconds: number, check: () => void): Promise<void>;
};

/**
 * How much of the time a rebuild works, judged by how long requests wait in the server and take: `delayMs` is what 99 % of them
 * stay below, sampled twice a second (see LoadSample).
 */
export type Pace = {
  /** Of the time, up to 1. */
  readonly share: number;
  /** The delay without the rebuild; undefined: not known yet. */
  readonly before: number | undefined;
  /** Samples in a row for which the delay did not fall although the rebuild made room. */
  readonly crowded: number;
};

export const FULL_PACE: Pace = { share: 1, before: undefined, crowded: 0 };

/** By which a delay may grow: half of the fifth that it is to stay below, and milliseconds that are the operating system's. */
const TOLERATED = 1.1;
const TOLERATED_MS = 1;
const LEAST_SHARE = 0.05;
/** After so many samples the load is another one: the rebuild holds still and what is measured then is the new `before`. */
const CROWDED_LIMIT = 8;
const LONGEST_REST = 1_000;
const LONGEST_STEP = 250;

/** Down fast, up slowly. Pure. */
export function nextPace({ share, before, crowded }: Pace, delayMs: number): Pace {
  if (before === undefined || share === 0)
    return { share: Math.max(share, LEAST_SHARE), before: delayMs, crowded: 0 };
  if (delayMs <= before * TOLERATED + TOLERATED_MS)
    return { share: Math.min(1, share + 0.1), before, crowded: 0 };
  if (crowded >= CROWDED_LIMIT) return { share: 0, before, crowded: 0 };
  return { share: Math.max(LEAST_SHARE, share * 0.6), before, crowded: crowded + 1 };
}

/** `maxRate`: so many events a second, however the server fares; undefined: as many as its delay allows. */
export function createThrottle(maxRate: number | undefined): Throttle {
  let pace = FULL_PACE;
  return {
    observe(delayMs) {
      pace = nextPace(pace, delayMs);
    },
    async rest(events, milliseconds, check) {
      const { share } = pace;
      const byShare = share === 0 ? LONGEST_REST : (milliseconds * (1 - share)) / share;
      const pause =
        maxRate === undefined ? Math.min(byShare, LONGEST_REST) : (events / maxRate) * 1_000 - milliseconds;
      check();
      for (let left = pause; left >= 1; left -= LONGEST_STEP) {
        await delay(Math.min(left, LONGEST_STEP));
        check();
      }
    },
  };
}
