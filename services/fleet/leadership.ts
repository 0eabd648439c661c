import { type Lead, type Leader, type Lease, leadOf } from '../../shared/fleet/lease.ts';
import type { Claimant } from './claim-lease.ts';
import type { LeaseView } from './lease-view.ts';

/** Place where the commands of a namespace are carried out, as this process knows it. */
export type LeaderLocation =
  | { readonly kind: 'here'; readonly leader: Leader }
  /** `term` is aborted as soon as another leader is known. */
  | { readonly kind: 'elsewhere'; readonly leader: Leader; readonly term: AbortSignal }
  /** There is no leader, or not yet, or its address is unknown. */
  | { readonly kind: 'nobody' };

/** Knowledge of a process about the leader: whether it is the leader itself, and whether another leader was seen alive. */
export type Leadership = ReturnType<typeof createLeadership>;

/** Creates the knowledge of a process that is neither leader nor standby yet. Calls `standBy` each time that it becomes a standby. */
export function createLeadership(
  { owner, space }: Pick<Claimant, 'owner' | 'space'>,
  view: LeaseView,
  standBy: () => void,
) {
  /** Epoch of the lease under which this process accepts commands. */
  let accepting: number | undefined;
  /** Epoch of the lease whose holder was seen alive. The log only names a holder. */
  let confirmed: number | undefined;
  let isStandby = false;
  let isWatching = true;

  const isOwn = ({ leader }: Lease) => leader?.owner === owner;
  const epoch = () => {
    const lease = view.current();
    return isOwn(lease) && accepting === lease.epoch ? accepting : undefined;
  };
  const beStandby = (): void => {
    if (isStandby) return;
    isStandby = true;
    standBy();
  };
  return {
    /** Returns whether this process holds a lease. */
    isOwn,
    /** Epoch of this process's lease, if it accepts commands under it. */
    epoch,
    /** The lease under which this process accepts commands, for writing. */
    lead: (): Lead | undefined => (epoch() === undefined ? undefined : leadOf(space, view.current())),
    location(): LeaderLocation {
      const lease = view.current();
      const { leader } = lease;
      if (leader === undefined) return { kind: 'nobody' };
      if (epoch() !== undefined) return { kind: 'here', leader };
      // A process that does not watch the leader believes the newest claim of another process.
      const isConfirmed = !isWatching || confirmed === lease.epoch;
      if (isOwn(lease) || !isConfirmed) return { kind: 'nobody' };
      return { kind: 'elsewhere', leader, term: view.term() };
    },
    /** Accepts commands under a lease of this process. */
    begin(lease: Lease): void {
      accepting = lease.epoch;
      isStandby = false;
    },
    /** Accepts no more commands, and becomes a standby. */
    end(): void {
      accepting = undefined;
      beStandby();
    },
    /** Lets this process answer reads although it does not know whether another process is the leader. */
    beStandby,
    /** Records that the holder of a lease was seen alive. */
    confirm(lease: Lease): void {
      if (confirmed === lease.epoch) return;
      beStandby();
      confirmed = lease.epoch;
      view.wake();
    },
    /** Accepts no more commands, and records that this process watches no leader any more. */
    leave(): void {
      accepting = undefined;
      isWatching = false;
    },
  };
}
