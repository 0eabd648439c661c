import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import type { Lease, Successor } from '../../shared/fleet/lease.ts';
import { valueWithin } from '../../shared/value-within.ts';
import { type Claimant, claimLease, returnLease } from './claim-lease.ts';
import { readLease } from './lease-view.ts';
import { createLeaderCheck, LEADER_TIMEOUTS } from './watch-leader.ts';

/**
 * Claims the lease for a command that writes to the log by itself, such as an import, and resolves to the epoch. Rejects with a message if
 * there is another leader: the writes of a leader that answers are never fenced off.
 */
export async function requireLease(claimant: Claimant): Promise<number> {
  const lead = await claimFreeLease(claimant);
  if (typeof lead === 'number') return lead;
  throw new Error(
    `the process at ${lead.address} is the leader of this log: stop it, or send it the documents over HTTP`,
  );
}

/**
 * Claims the lease as soon as it is free, and resolves to the epoch. Resolves to the leader if another process is the leader and answers.
 */
export async function claimFreeLease(claimant: Claimant): Promise<number | NonNullable<Lease['leader']>> {
  const { log, space, owner } = claimant;
  let before = await log.lastPosition();
  let lastSign = performance.now();
  const checkLeader = createLeaderCheck(claimant, () => lastSign);
  for (;;) {
    const lease = await readLease(log, space);
    const { leader } = lease;
    if (leader?.owner === owner) return lease.epoch;
    const state = await checkLeader(lease);
    if (leader !== undefined && state === 'alive') return leader;
    if (state === 'free') {
      const claim = await claimLease(claimant, lease);
      if (claim !== undefined) return claim.epoch;
      continue;
    }
    await delay(LEADER_TIMEOUTS.probeEvery);
    const last = await log.lastPosition();
    if (last !== before && (await hasEventsBehind(log, before))) lastSign = performance.now();
    before = last;
  }
}

/** Steps down if this process is the leader by the log. `successor`: the process that takes the place of this one. */
export async function returnOwnLease(claimant: Claimant, successor?: Successor): Promise<void> {
  const lease = await readLease(claimant.log, claimant.space);
  if (lease.leader?.owner === claimant.owner) await returnLease(claimant, lease, successor);
}

/** A lease that a process claims before it joins the fleet. */
export type EarlyLease = ReturnType<typeof createEarlyLease>;

/** Creates the record of an early lease, which the fleet does not have yet. */
export function createEarlyLease(claimant: Claimant) {
  let isPassed = false;
  return {
    /** Records that the fleet has the lease. From now on the fleet steps down from it. */
    pass(): void {
      isPassed = true;
    },
    /** Steps down unless the lease was passed: a process whose start failed must not keep others waiting. */
    async close(): Promise<void> {
      // There is no need to wait longer: then other processes claim the lease of a silent leader.
      if (!isPassed) await valueWithin(LEADER_TIMEOUTS.silence, returnOwnLease(claimant));
    },
  };
}

/**
 * Returns whether the namespace has events after a position. Other programs may write to the log's server, so the last position alone does
 * not show that the leader is alive.
 */
async function hasEventsBehind(log: EventStore, position: bigint): Promise<boolean> {
  for await (const _event of rawEvents(log, position, { batchSize: 1 })) return true;
  return false;
}
