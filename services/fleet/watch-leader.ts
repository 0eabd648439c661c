import type { Lease } from '../../shared/fleet/lease.ts';
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
  const { leader } = lease;
  if (leader === undefined) return true;
  let lastAnswer = performance.now();
  while (!isClosed() && view.current() === lease) {
    const asked = performance.now();
    const probe = await probeLeader(leader, patience.probeTimeout, watch.membership);
    if (view.current() !== lease) return false;
    if (probe === 'gone') return true;
    const now = performance.now();
    // Where it was this process that stood still, nothing is known of the leader.
    const isAwake = now - asked < 2 * patience.probeTimeout;
    if (probe === 'alive') watch.alive();
    if (probe === 'alive' || !isAwake) lastAnswer = now;
    if (now - Math.max(lastAnswer, view.lastSign()) > patience.silence) return true;
    await view.changed(patience.probeEvery);
  }
  return false;
}
