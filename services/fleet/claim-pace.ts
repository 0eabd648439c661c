import { backoffMs } from '../../shared/backoff.ts';
import { LEADER_TIMEOUTS } from './watch-leader.ts';

const LONGEST_SILENCE_MS = 60_000;
const FORGIVEN_AFTER_MS = 300_000;

/**
 * Creates the pace of claims: the time for which a leader must be silent before this process claims the lease. `now` returns milliseconds
 * of a clock that is never set back.
 */
export function createClaimPace(now: () => number) {
  let losses: number[] = [];
  let seenAt = Number.NEGATIVE_INFINITY;
  const isRecent = (at: number) => now() - at < FORGIVEN_AFTER_MS;
  const recent = (): number => {
    losses = losses.filter(isRecent);
    return losses.length;
  };
  return {
    /** Records that this process lost the lease without stepping down. */
    lost: () => void losses.push(now()),
    /**
     * Records that another process lost the lease to a third one without stepping down. It doubles the silence once, however often it happens:
     * writes wait for a leader only a few seconds.
     */
    sawLoss(): void {
      seenAt = now();
    },
    /** Returns whether this process lost the lease in the last five minutes. */
    hasLost: () => recent() > 0,
    /** Returns the milliseconds of silence. Each loss of the last five minutes doubles them, up to a minute. */
    silence: () =>
      backoffMs(Math.max(recent(), isRecent(seenAt) ? 1 : 0) + 1, {
        firstMs: LEADER_TIMEOUTS.silence,
        longestMs: LONGEST_SILENCE_MS,
      }),
  };
}
