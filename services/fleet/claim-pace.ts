import { backoffMs } from '../../shared/backoff.ts';
import { LEADER_TIMEOUTS } from './watch-leader.ts';

const LONGEST_SILENCE_MS = 60_000;
const FORGIVEN_AFTER_MS = 300_000;

/**
 * Creates the pace of claims: how long a leader has to be silent until this process claims its lease. `now`: milliseconds of a clock that
 * is never set back.
 */
export function createClaimPace(now: () => number) {
  let losses: number[] = [];
  const recent = (): number => {
    losses = losses.filter((at) => now() - at < FORGIVEN_AFTER_MS);
    return losses.length;
  };
  return {
    /** This process lost the lease without stepping down. */
    lost: () => void losses.push(now()),
    /** Returns whether it did so lately. */
    hasLost: () => recent() > 0,
    /** Milliseconds of silence: twice as many after each loss, up to a minute. Losses are forgiven after five minutes. */
    silence: () =>
      backoffMs(recent() + 1, { firstMs: LEADER_TIMEOUTS.silence, longestMs: LONGEST_SILENCE_MS }),
  };
}
