import { assertNever } from '../assert-never.ts';
import type { AppendCondition, StoredEvent } from '../event-store/event-store.ts';
import { type LeaderElected, type LeaseEvent, leaseStream } from './lease-events.ts';

/** Who leads: `claim` is the id of the event that says so. */
export type Leader = Omit<LeaderElected['data'], 'epoch'> & { readonly claim: string };

/** Who leads a space, as of some position of its log. */
export type Lease = {
  /** Of the newest claim; 0 before the first. */
  readonly epoch: number;
  /** Undefined when the last leader stepped down, and before the first. */
  readonly leader: Leader | undefined;
  /** Of the lease's stream. */
  readonly revision: bigint | undefined;
};

/** The lease that a process holds, as it writes under it. */
export type Lead = {
  readonly epoch: number;
  /** The condition of every append: met until another process claims the lead, or this one gives it back. Absent: nobody claims. */
  readonly fence?: AppendCondition;
};

/** `lease` as its holder writes under it. */
export function leadOf(space: string, { epoch, revision }: Lease): Lead {
  return revision === undefined ? { epoch } : { epoch, fence: { stream: leaseStream(space), revision } };
}

export const NO_LEASE: Lease = { epoch: 0, leader: undefined, revision: undefined };

/**
 * The lease after an event of its stream. An event that it knows already changes nothing, one that cannot be read only the
 * revision: who must not go on past that one stops before.
 */
export function evolveLease(lease: Lease, stored: StoredEvent): Lease {
  const { revision } = stored;
  if (revision <= (lease.revision ?? -1n)) return lease;
  if (stored.unreadable !== undefined) return { ...lease, revision };
  const event = { type: stored.type, data: stored.data } as LeaseEvent;
  switch (event.type) {
    case 'leader-elected': {
      const { epoch, owner, address } = event.data;
      return { epoch, leader: { owner, address, claim: stored.id }, revision };
    }
    case 'leader-stepped-down': {
      const isNewest = event.data.epoch === lease.epoch;
      return { ...lease, leader: isNewest ? undefined : lease.leader, revision };
    }
    default:
      return assertNever(event);
  }
}
