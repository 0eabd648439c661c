import { assertNever } from '../assert-never.ts';
import type { AppendCondition, StoredEvent } from '../event-store/event-store.ts';
import { type LeaderElected, type LeaseEvent, leaseStream, type SuccessorNamed } from './lease-events.ts';

/** The leader. `claim` is the id of its LeaderElected event. */
export type Leader = Omit<LeaderElected['data'], 'epoch'> & { readonly claim: string };

/** The process that the last leader named to take its place. */
export type Successor = Omit<SuccessorNamed['data'], 'epoch'>;

/** The lease of a namespace at some position of its log. */
export type Lease = {
  /** Epoch of the newest claim; 0 before the first. */
  readonly epoch: number;
  /** The leader; undefined before the first claim and after the last leader stepped down. */
  readonly leader: Leader | undefined;
  /** Process to which the lease is left for some time, also while that process is the leader. */
  readonly successor: Successor | undefined;
  /** Revision of the last event in the lease's stream. */
  readonly revision: bigint | undefined;
};

/** Epoch and condition with which the holder of the lease writes. */
export type Lead = {
  readonly epoch: number;
  /** Condition of every append. It is true until another process claims the lease or this one steps down. Absent: no process claims. */
  readonly fence?: AppendCondition;
};

/** Returns the epoch and condition with which the holder of `lease` writes. */
export function leadOf(space: string, { epoch, revision }: Lease): Lead {
  return revision === undefined ? { epoch } : { epoch, fence: { stream: leaseStream(space), revision } };
}

export const NO_LEASE: Lease = { epoch: 0, leader: undefined, successor: undefined, revision: undefined };

/**
 * Returns the lease after an event of its stream. An event that was already applied changes nothing. An unreadable event changes only the
 * revision: a process that must not continue past it has stopped before.
 */
export function evolveLease(lease: Lease, stored: StoredEvent): Lease {
  const { revision } = stored;
  if (revision <= (lease.revision ?? -1n)) return lease;
  if (stored.unreadable !== undefined) return { ...lease, revision };
  const event = { type: stored.type, data: stored.data } as LeaseEvent;
  switch (event.type) {
    case 'leader-elected': {
      const { epoch, owner, address } = event.data;
      const successor = lease.successor?.owner === owner ? lease.successor : undefined;
      return { epoch, leader: { owner, address, claim: stored.id }, successor, revision };
    }
    case 'leader-stepped-down': {
      const isNewest = event.data.epoch === lease.epoch;
      if (!isNewest) return { ...lease, revision };
      const successor = lease.successor?.owner === lease.leader?.owner ? undefined : lease.successor;
      return { ...lease, leader: undefined, successor, revision };
    }
    case 'successor-named': {
      const { epoch, ...successor } = event.data;
      return epoch === lease.epoch ? { ...lease, successor, revision } : { ...lease, revision };
    }
    default:
      return assertNever(event);
  }
}
