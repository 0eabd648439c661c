import type { EventStore } from '../../shared/event-store/event-store.ts';
import { epochAfter } from '../../shared/fleet/fence.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';

/** Returns the epoch of the newest claim before a position. */
export type EpochAt = (position: bigint) => number;

/** A claim of the lease. `id` is that of its event, which no other log has. */
export type Claim = { readonly position: bigint; readonly epoch: number; readonly id: string };

/** Returns the newest claim before a position; undefined: there is none. */
export type ClaimAt = (position: bigint) => Claim | undefined;

/** Creates a reader of the lease's claims. Each call reads the claims that are new since the previous call. */
export function createClaims(log: Pick<EventStore, 'readStream'>, space: string): () => Promise<ClaimAt> {
  const claims: Claim[] = [];
  let next = 0n;
  return async () => {
    for await (const event of log.readStream(leaseStream(space), next)) {
      // Another call may have read this event in the meantime.
      if (event.revision < next) continue;
      next = event.revision + 1n;
      const before = claims.at(-1)?.epoch ?? 0;
      const epoch = epochAfter(before, event);
      if (epoch > before) claims.push({ position: event.position, epoch, id: event.id });
    }
    return (position) => claims.findLast((claim) => claim.position < position);
  };
}

/** Creates a reader of the claims' epochs. It reads like `createClaims`. */
export function createEpochs(log: Pick<EventStore, 'readStream'>, space: string): () => Promise<EpochAt> {
  const read = createClaims(log, space);
  return async () => {
    const claimAt = await read();
    return (position) => claimAt(position)?.epoch ?? 0;
  };
}

/** Reads all claims once. */
export function readEpochs(log: Pick<EventStore, 'readStream'>, space: string): Promise<EpochAt> {
  return createEpochs(log, space)();
}
