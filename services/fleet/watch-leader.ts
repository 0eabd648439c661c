import type { Leader, Lease } from '../../shared/fleet/lease.ts';
import type { LeaseView } from './lease-view.ts';
import type { Membership } from './membership.ts';
import { probeLeader } from './probe-leader.ts';

/** How long a leader that says nothing is waited for, in milliseconds. */
export type Patience = {
  readonly probeEvery: number;
  readonly probeTimeout: number;
  /** Without an answer and without an event of its epoch: a leader that is paused, or cut off. */
  readonly silence: number;
};

export const PATIENCE: Patience = { probeEvery: 400, probeTimeout: 1_000, silence: 2_000 };

/** What a look at the leader says. `free`: nobody leads, or who did shows no sign of life: the lead can be claimed. */
export type LeaderState = 'free' | 'alive' | 'silent';

/**
 * Asks a leader, again and again, and judges it by what it answers and by the signs of life that the log has of it. `lastSign`: when
 * the last of these came, in milliseconds of `performance.now()`.
 */
export function createLeaderJudge(
  membership: Membership | undefined,
  lastSign: () => number,
  patience = PATIENCE,
): (leader: Leader | undefined) => Promise<LeaderState> {
  let lastAnswer = performance.now();
  return async (leader) => {
    if (leader === undefined) return 'free';
    const asked = performance.now();
    const probe = await probeLeader(leader, patience.probeTimeout, membership);
    if (probe === 'gone') return 'free';
    const now = performance.now();
    // Where it was this process that stood still, nothing is known of the leader.
    const isAwake = now - asked < 2 * patience.probeTimeout;
    if (probe === 'alive' || !isAwake) lastAnswer = now;
    return now - Math.max(lastAnswer, lastSign()) > patience.silence ? 'free' : probe;
  };
}

export type LeaderWatch = {
  readonly view: LeaseView;
  /** As it is watched; the watch ends when it changes. */
  readonly lease: Lease;
  readonly patience: Patience;
  readonly isClosed: () => boolean;
  readonly membership: Membership | undefined;
  /** Called whenever the leader answers. */
  readonly alive: () => void;
};

/**
 * Resolves with true when the leader shows no sign of life, and with false when the lease has changed. At once where nobody
 * listens at its address any more.
 */
export async function watchLeader(watch: LeaderWatch): Promise<boolean> {
  const { view, lease, patience, isClosed } = watch;
  const judge = createLeaderJudge(watch.membership, view.lastSign, patience);
  while (!isClosed() && view.current() === lease) {
    const state = await judge(lease.leader);
    if (view.current() !== lease) return false;
    if (state === 'free') return true;
    if (state === 'alive') watch.alive();
    await view.changed(patience.probeEvery);
  }
  return false;
}
