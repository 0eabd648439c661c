import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import type { Lease } from '../../shared/fleet/lease.ts';
import { type LeaseEvent, leaseStream } from '../../shared/fleet/lease-events.ts';
import type { Membership } from './membership.ts';

/** A process of a namespace that claims its lease. */
export type Claimant = {
  readonly log: EventStore;
  readonly space: string;
  readonly owner: string;
  /** Address for other processes. */
  readonly address: string;
  /** Absent: it proves nothing, and trusts the address of a leader. */
  readonly membership?: Membership;
  /** ISO 8601. */
  readonly now: () => string;
};

/**
 * Claims a lease without a holder. Returns position and epoch of the claim; undefined if another process was faster. The claim itself makes
 * the leader: after it no event of an older epoch takes effect.
 */
export async function claimLease(
  claimant: Claimant,
  lease: Lease,
): Promise<{ readonly position: bigint; readonly epoch: number } | undefined> {
  const { owner, address, membership } = claimant;
  const id = randomUUID();
  membership?.claiming(id);
  const epoch = lease.epoch + 1;
  const position = await append(
    claimant,
    lease,
    { id, type: 'leader-elected', data: { epoch, owner, address } },
    epoch,
  );
  return position === undefined ? undefined : { position, epoch };
}

/** Steps down, so that no process has to wait. Does nothing if another process has claimed the lease. */
export async function returnLease(claimant: Claimant, lease: Lease): Promise<void> {
  const { epoch } = lease;
  await append(claimant, lease, { id: randomUUID(), type: 'leader-stepped-down', data: { epoch } }, epoch);
}

/** Kinds of command by their events. */
const COMMANDS: Readonly<Record<LeaseEvent['type'], string>> = {
  'leader-elected': 'claim-lead',
  'leader-stepped-down': 'step-down',
};

async function append(
  { log, space, owner, now }: Claimant,
  { revision }: Lease,
  event: LeaseEvent & { readonly id: string },
  epoch: number,
): Promise<bigint | undefined> {
  const metadata = {
    schemaVersion: EVENT_VERSIONS[event.type],
    at: now(),
    epoch,
    actor: { kind: 'process', id: owner } as const,
    via: COMMANDS[event.type],
  };
  const stored = await log.append(leaseStream(space), revision ?? 'none', [{ ...event, metadata }]);
  return stored.kind === 'appended' ? stored.position : undefined;
}
