import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { readLease } from '../../fleet/lease-view.ts';
import { probeLeader } from '../../fleet/probe-leader.ts';
import { LEADER_TIMEOUTS } from '../../fleet/watch-leader.ts';

/**
 * Throws a message if another process is the leader, because the leader writes the indices. No other process uses this directory, but
 * others may use its log.
 */
export async function refuseWhereOthersLead(log: EventStore, space: string): Promise<void> {
  const { leader } = await readLease(log, space);
  if (leader === undefined || (await probeLeader(leader, LEADER_TIMEOUTS.silence, undefined)) !== 'alive')
    return;
  throw new Error(
    `the leader is another process (${leader.address}): run the command on the data directory of a process that runs, which asks the leader`,
  );
}
