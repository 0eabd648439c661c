import type { Leader, Lease } from '../../shared/fleet/lease.ts';
import type { LeaseView } from './lease-view.ts';
import type { Membership } from './membership.ts';
import { probeLeader } from './probe-leader.ts';

/** Time limits for a silent leader, in milliseconds. */
export type LeaderTimeouts = {
  readonly probeEvery: number;
  readonly probeTimeout: number;
  /** Time without an answer and without an event of the leader's epoch, after which it counts as paused or cut off. */
  readonly silence: number;
};

export const LEADER_TIMEOUTS: LeaderTimeouts = { probeEvery: 400, probeTimeout: 1_000, silence: 2_000 };

/** Result of a look at the leader. `free`: the lease can be claimed, because there is no leader, or the leader shows no sign of life. */
export type LeaderState = 'free' | 'alive' | 'silent';

/**
 * Creates a check that asks the leader at each call. It classifies the leader by its answers and by the signs of life in the log.
 * `lastSign` returns the time of the last sign in the log, in milliseconds of `performance.now()`.
 */
export function createLeaderCheck(
  membership: Membership | undefined,
  lastSign: () => number,
  timeouts = LEADER_TIMEOUTS,
): (leader: Leader | undefined) => Promise<LeaderState> {
  let lastAnswer = performance.now();
  return async (leader) => {
    if (leader === undefined) return 'free';
    const asked = performance.now();
    const probe = await probeLeader(leader, timeouts.probeTimeout, membership);
    if (probe === 'gone') return 'free';
    const now = performance.now();
    // If this process itself was stopped, nothing is known about the leader.
    const isAwake = now - asked < 2 * timeouts.probeTimeout;
    if (probe === 'alive' || !isAwake) lastAnswer = now;
    return now - Math.max(lastAnswer, lastSign()) > timeouts.silence ? 'free' : probe;
  };
}

export type LeaderWatch = {
  readonly view: LeaseView;
  /** Watched lease; the watch ends when it changes. */
  readonly lease: Lease;
  readonly timeouts: LeaderTimeouts;
  readonly isClosed: () => boolean;
  readonly membership: Membership | undefined;
  /** Called whenever the leader answers. */
  readonly alive: () => void;
  /** False: the watch continues although the leader shows no sign of life. `silent` is called then. */
  readonly mayClaim: () => boolean;
  readonly silent: () => void;
};

/**
 * Resolves with true if the leader shows no sign of life, and with false if the lease has changed or the watch is closed. Resolves with
 * true at once if no process listens at the leader's address.
 */
export async function watchLeader(watch: LeaderWatch): Promise<boolean> {
  const { view, lease, timeouts, isClosed } = watch;
  const checkLeader = createLeaderCheck(watch.membership, view.lastSign, timeouts);
  while (!isClosed() && view.current() === lease) {
    const state = await checkLeader(lease.leader);
    if (view.current() !== lease) return false;
    if (state === 'free' && watch.mayClaim()) return true;
    if (state === 'free') watch.silent();
    if (state === 'alive') watch.alive();
    await view.changed(timeouts.probeEvery);
  }
  return false;
}
