import { setTimeout as delay } from 'node:timers/promises';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUpUnlessDiskFull } from '../../projections/graph/projector.ts';
import { UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { type Lease, leadOf } from '../../shared/fleet/lease.ts';
import { notInForce, type TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { type Claimant, claimLease } from '../fleet/claim-lease.ts';
import { readLease } from '../fleet/lease-view.ts';
import { createLeaderCheck, LEADER_TIMEOUTS } from '../fleet/watch-leader.ts';
import { appendDefinitions } from './append-definitions.ts';
import { isDefinition, typesNotInForce } from './definitions-in-force.ts';
import { describeDifferences } from './describe-differences.ts';
import { createTypesWatch, type TypesWatch } from './types-watch.ts';

export type SettleOptions = {
  readonly claimant: Claimant;
  readonly graph: Pick<ContentGraph, 'position' | 'readFrom' | 'definition' | 'replay' | 'reopen'>;
  readonly definitions: readonly TypeDefinition[];
  /** True: resolves as soon as this process could change the content types, and does not change them. */
  readonly isDeferred?: boolean;
  /** Throws a message if these definitions, which are not in force, must not come into force. Called before the lease is claimed. */
  readonly refuse: (changed: readonly TypeDefinition[]) => void;
  /**
   * Called once if the content types cannot be changed because another process is the leader, with what differs in each, and the address
   * of that process.
   */
  readonly waiting: (types: readonly string[], leader: string) => void;
};

/**
 * Resolves when the content types of this process are in force, and the graph has caught up with the log. Only the leader may bring others
 * into force, because two processes with different content types would answer and validate differently. So this process claims the lease if
 * it is free, and waits while another process has it. Resolves to the epoch that it claimed, if any.
 */
export async function settleContentTypes(settling: SettleOptions): Promise<number | undefined> {
  const { claimant, graph, definitions } = settling;
  const { log, space, now } = claimant;
  let lastSign = performance.now();
  const checkLeader = createLeaderCheck(claimant, () => lastSign);
  let isTold = false;
  let claimed: number | undefined;
  for (;;) {
    const before = graph.position();
    const stop = await catchUpUnlessDiskFull(log, graph);
    const changed = notInForce(definitions, graph.definition);
    if (changed.length === 0) return claimed;
    refuseStop(stop);
    const lease = await readLease(log, space);
    const { leader } = lease;
    if (leader?.owner === claimant.owner) {
      if (settling.isDeferred === true) return claimed;
      if (claimed === undefined) settling.refuse(changed);
      const defined = { at: now(), lead: leadOf(space, lease), owner: claimant.owner };
      await appendDefinitions(log, space, changed, defined);
      continue;
    }
    if (graph.position() > before) lastSign = performance.now();
    if ((await checkLeader(lease)) === 'free') {
      // Also after a wait: the other process may have stored values that these definitions do not show.
      settling.refuse(changed);
      claimed = (await claimLease(claimant, lease))?.epoch;
      continue;
    }
    if (!isTold) tellWaiting(settling, changed, leader);
    isTold = true;
    await delay(LEADER_TIMEOUTS.probeEvery);
  }
}

/** Throws a message if the graph stopped. Such a process must not become leader, and with other content types it cannot serve. */
function refuseStop(stop: Awaited<ReturnType<typeof catchUpUnlessDiskFull>>): void {
  if (stop === 'full')
    throw new Error('the disk of the content graph is full: free some space, and start again');
  if (stop !== undefined) throw new UnreadableEvent(stop);
}

function tellWaiting(
  { refuse, waiting, graph }: SettleOptions,
  changed: readonly TypeDefinition[],
  leader: Lease['leader'],
): void {
  refuse(changed);
  if (leader !== undefined) waiting(describeDifferences(changed, graph.definition), leader.address);
}

/** Throws a message if the content types in force are not those of this process. */
export function refuseOtherTypes(
  definitions: readonly TypeDefinition[],
  graph: Pick<ContentGraph, 'definition'>,
): void {
  const changed = typesNotInForce(definitions, graph.definition);
  if (changed.length === 0) return;
  throw new Error(
    `the folder of content types has changed since the server was started (${changed.join(', ')}): start the server again`,
  );
}

/** Watches content types in a process with a graph: the watch gets events after the graph has applied them. */
export function watchContentTypes(
  graph: Pick<ContentGraph, 'definition'>,
  definitions: readonly TypeDefinition[],
): TypesWatch {
  return createTypesWatch('another process', (events) =>
    events.some(isDefinition) ? typesNotInForce(definitions, graph.definition) : [],
  );
}
