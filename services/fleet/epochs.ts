import type { EventStore } from '../../shared/event-store/event-store.ts';
import { epochAfter } from '../../shared/fleet/fence.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';

/** Returns the epoch of the newest claim before a position. */
export type EpochAt = (position: bigint) => number;

/** Creates a reader of the claims' epochs. Each call reads the claims that are new since the previous call. */
export function createEpochs(log: Pick<EventStore, 'readStream'>, space: string): () => Promise<EpochAt> {
  const claims: { readonly position: bigint; readonly epoch: number }[] = [];
  let next = 0n;
  return async () => {
    for await (const event of log.readStream(leaseStream(space), next)) {
      // Another call may have read this event in the meantime.
      if (event.revision < next) continue;
      next = event.revision + 1n;
      const before = claims.at(-1)?.epoch ?? 0;
      const epoch = epochAfter(before, event);
      if (epoch > before) claims.push({ position: event.position, epoch });
    }
    return (position) => claims.findLast((claim) => claim.position < position)?.epoch ?? 0;
  };
}

/** Reads all claims once. */
export function readEpochs(log: Pick<EventStore, 'readStream'>, space: string): Promise<EpochAt> {
  return createEpochs(log, space)();
}
