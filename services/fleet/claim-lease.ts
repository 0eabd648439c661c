import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import type { Lease } from '../../shared/fleet/lease.ts';
import { type LeaseEvent, leaseStream } from '../../shared/fleet/lease-events.ts';
import type { Membership } from './membership.ts';

/** Who claims: a process of a space. */
export type Claimant = {
  readonly log: EventStore;
  readonly space: string;
  readonly owner: string;
  /** Where others reach it. */
  readonly address: string;
  /** Absent: it proves nothing, and believes who says to be the leader. */
  readonly membership?: Membership;
  /** ISO 8601. */
  readonly now: () => string;
};

/**
 * Claims the lead that `lease` shows nobody to hold. Position and epoch of the claim; undefined when another was faster. A
 * claim is the lead: from it on in the log no event of an older epoch counts.
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

/** Gives the lead back, so that nobody has to wait. Nothing happens when another has claimed it. */
export async function returnLease(claimant: Claimant, lease: Lease): Promise<void> {
  const { epoch } = lease;
  await append(claimant, lease, { id: randomUUID(), type: 'leader-stepped-down', data: { epoch } }, epoch);
}

/** The kinds of command by what they lead to. */
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
