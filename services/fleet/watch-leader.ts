import type { Leader, Lease } from '../../shared/fleet/lease.ts';
import type { Claimant } from './claim-lease.ts';
import type { LeaseView } from './lease-view.ts';
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

/** A process that may claim the lease. */
type Watcher = Pick<Claimant, 'owner' | 'address' | 'membership'>;

/**
 * Creates a check that asks the leader at each call. It classifies the leader by its answers and by the signs of life in the log.
 * `lastSign` returns the time of the last sign in the log, in milliseconds of `performance.now()`. A successor that the last leader named
 * may be silent for longer, until it answers as the leader for the first time.
 */
export function createLeaderCheck(
  watcher: Watcher,
  lastSign: () => number,
  timeouts = LEADER_TIMEOUTS,
): (lease: Lease) => Promise<LeaderState> {
  const { membership } = watcher;
  let lastAnswer = performance.now();
  /** Epoch of the last leader that has answered. */
  let answered: number | undefined;
  const isLeft = createSuccessorWatch(watcher);
  return async (lease) => {
    const { leader, successor, epoch } = lease;
    if (leader === undefined) return (await isLeft(lease, timeouts)) ? 'silent' : 'free';
    const asked = performance.now();
    const probe = await probeLeader(leader, timeouts.probeTimeout, membership);
    if (probe === 'gone') return 'free';
    const now = performance.now();
    // If this process itself was stopped, nothing is known about the leader.
    const isAwake = now - asked < 2 * timeouts.probeTimeout;
    if (probe === 'alive' || !isAwake) lastAnswer = now;
    if (probe === 'alive') answered = epoch;
    const begins = answered === epoch ? 0 : (successor?.forMs ?? 0);
    return now - Math.max(lastAnswer, lastSign()) > Math.max(timeouts.silence, begins) ? 'free' : probe;
  };
}

/**
 * Creates a check whether a free lease is left to the successor that the last leader named. It is not if the successor's time is over, if
 * its address has no process or another one, or if this process is at that address.
 */
function createSuccessorWatch({ owner, address }: Watcher) {
  /** The lease that was checked last, and the time of its first check. */
  let seen: { readonly revision: Lease['revision']; readonly at: number } = { revision: undefined, at: 0 };
  return async ({ successor, revision }: Lease, { probeTimeout }: LeaderTimeouts): Promise<boolean> => {
    if (successor === undefined || successor.owner === owner || successor.address === address) return false;
    if (seen.revision !== revision) seen = { revision, at: performance.now() };
    // It has no claim yet, so it cannot prove anything. An impostor could only make others wait for this time.
    const unproven: Leader = { ...successor, claim: '' };
    if ((await probeLeader(unproven, probeTimeout, undefined)) === 'gone') return false;
    return performance.now() - seen.at <= successor.forMs;
  };
}

export type LeaderWatch = {
  readonly view: LeaseView;
  /** Watched lease; the watch ends when it changes. */
  readonly lease: Lease;
  readonly timeouts: LeaderTimeouts;
  readonly isClosed: () => boolean;
  readonly claimant: Watcher;
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
  const checkLeader = createLeaderCheck(watch.claimant, view.lastSign, timeouts);
  while (!isClosed() && view.current() === lease) {
    const state = await checkLeader(lease);
    if (view.current() !== lease) return false;
    if (state === 'free' && watch.mayClaim()) return true;
    if (state === 'free') watch.silent();
    if (state === 'alive') watch.alive();
    await view.changed(timeouts.probeEvery);
  }
  return false;
}
