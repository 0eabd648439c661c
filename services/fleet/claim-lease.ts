import type { EventStore, NewEvent } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import type { Lease, Successor } from '../../shared/fleet/lease.ts';
import { type LeaseEvent, leaseStream } from '../../shared/fleet/lease-events.ts';
import type { Membership } from './membership.ts';

/** A process of a namespace that claims its lease. */
export type Claimant = {
  readonly log: EventStore;
  readonly space: string;
  readonly owner: string;
  /** Address for other processes. */
  readonly address: string;
  /** Absent: this process proves nothing to other processes, and trusts the address of a leader. */
  readonly membership?: Membership;
  /** ISO 8601. */
  readonly now: () => string;
};

/**
 * Claims the lease at the revision of `lease`. Returns the position and epoch of the claim; undefined if another process claimed first. The
 * stored claim makes this process the leader: later events of an older epoch have no effect.
 */
export async function claimLease(
  claimant: Claimant,
  lease: Lease,
): Promise<{ readonly position: bigint; readonly epoch: number } | undefined> {
  const { owner, address, membership } = claimant;
  const epoch = lease.epoch + 1;
  const event = leaseEvent(claimant, { type: 'leader-elected', data: { epoch, owner, address } });
  membership?.claiming(event.id);
  const position = await append(claimant, lease, [event]);
  return position === undefined ? undefined : { position, epoch };
}

/**
 * Steps down, so that no process has to wait. Does nothing if another process has claimed the lease. `successor`: the process that takes
 * the place of this one.
 */
export async function returnLease(claimant: Claimant, lease: Lease, successor?: Successor): Promise<void> {
  const { epoch } = lease;
  const named = successor && leaseEvent(claimant, { type: 'successor-named', data: { epoch, ...successor } });
  const steppedDown = leaseEvent(claimant, { type: 'leader-stepped-down', data: { epoch } });
  await append(claimant, lease, named === undefined ? [steppedDown] : [named, steppedDown]);
}

/** Names of commands, by the type of the event that each appends. */
const COMMANDS: Readonly<Record<LeaseEvent['type'], string>> = {
  'leader-elected': 'claim-lead',
  'leader-stepped-down': 'step-down',
  'successor-named': 'step-down',
};

function leaseEvent({ owner, now }: Claimant, event: LeaseEvent): NewEvent {
  const { epoch } = event.data;
  return newEvent(event, {
    at: now(),
    epoch,
    actor: { kind: 'process', id: owner },
    via: COMMANDS[event.type],
  });
}

async function append(
  { log, space }: Claimant,
  { revision }: Lease,
  events: readonly NewEvent[],
): Promise<bigint | undefined> {
  const stored = await log.append(leaseStream(space), revision ?? 'none', events);
  return stored.kind === 'appended' ? stored.position : undefined;
}
