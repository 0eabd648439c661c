import { setTimeout as delay } from 'node:timers/promises';
import type { LoadSample } from '../operator/watch-load.ts';

/** Pauses between pieces of work, so that requests run. */
export type Throttle = ReturnType<typeof createThrottle>;

/**
 * Share of the time that a rebuild works. It depends on the delay of requests in the server: `delayMs`, sampled twice a second (see
 * LoadSample).
 */
export type Pace = {
  /** Share of the time, up to 1. */
  readonly share: number;
  /** Delay without the rebuild; undefined if it is not known yet. */
  readonly before: number | undefined;
  /** Number of samples in a row with too long a delay. While the rebuild pauses (share 0): number of samples since the pause began. */
  readonly crowded: number;
};

export const FULL_PACE: Pace = { share: 1, before: undefined, crowded: 0 };

/**
 * Allowed growth of the delay. The delay must grow by less than a fifth: the factor allows half of that. The milliseconds are the operating
 * system's own delay. On an idle server timers are later, which nobody notices.
 */
const TOLERATED = 1.1;
const TOLERATED_MS = { asked: 0.25, idle: 1 };
/**
 * Smallest share of the time. It is larger on an idle server. If other programs load the machine, timers are sometimes late even without
 * the rebuild, and a throttled rebuild would help nobody.
 */
const LEAST_SHARE = { asked: 0.05, idle: 0.3 };
/** First share after the delay is known. It is small because an excess shows only two seconds later. */
const FIRST_SHARE = 0.3;
/** Factor by which the share rises. It is small: an excess for a hundredth of the time is in the 99th percentile. */
const FASTER = 1.2;
const SLOWER = 0.6;
/** Samples after which the load counts as changed: the rebuild pauses, and the delay measured then is the new `before`. */
const CROWDED_LIMIT = 8;
/** Samples until one contains no request from before the pause (see LoadSample). */
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

/** Creates a throttle. `maxRate` limits the events per second; undefined if only the delay of requests limits them. */
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
    /** True while the rebuild is throttled for the sake of a server. */
    get isSparing(): boolean {
      return pace.share < 1;
    },
    /** Records the recent load of a server, see `Pace`. */
    observe(sample: LoadSample): void {
      if (maxRate === undefined) pace = nextPace(pace, sample);
    },
    /**
     * Pauses after a piece of work with this number of events and this duration. Resolves when the next may begin. Calls
     * `check` from time to time, and rejects if that throws.
     */
    async rest(events: number, milliseconds: number, check: () => void): Promise<void> {
      check();
      for (let left = pauseAfter(events, milliseconds); left >= 1; left -= LONGEST_STEP) {
        await delay(Math.min(left, LONGEST_STEP));
        check();
      }
      // The pause has a limit: a server that has ended sends no samples.
      for (let left = LONGEST_STILL; left > 0 && pace.share === 0; left -= LONGEST_STEP) {
        await delay(LONGEST_STEP);
        check();
      }
    },
  };
}
