import type { StoredEvent } from '../event-store/event-store.ts';
import type { LeaderElected } from './lease-events.ts';

/** An event of a log, or of an export that has all events of a log and no positions. */
type Claimable = Pick<StoredEvent, 'type' | 'data' | 'metadata' | 'unreadable'> & {
  readonly position?: bigint;
};

/**
 * Creates the claims of a lease. An event whose writer's lease had ended by another claim is in the log and has no effect. Every process
 * agrees, because the result depends only on the log. `epoch`: that of the newest claim before the first event.
 */
export function createClaims(epoch = 0) {
  const claims: { readonly position: bigint; readonly epoch: number }[] = [{ position: -1n, epoch }];
  const newest = () => claims.at(-1)?.epoch ?? 0;
  const epochAt = (position: bigint) => claims.findLast((claim) => claim.position < position)?.epoch ?? 0;
  return {
    newest,
    /** Returns the epoch of the newest claim before a position, up to which the claims were added. */
    epochAt,
    /** Adds the next event of the log, and returns whether it has an effect. */
    add({ type, data, metadata, unreadable, position = 0n }: Claimable): boolean {
      if (type === 'leader-elected' && unreadable === undefined) {
        const claimed = (data as LeaderElected['data']).epoch;
        if (claimed > newest()) claims.push({ position, epoch: claimed });
      }
      return metadata.epoch >= newest();
    },
    /** Returns whether an event before the last claim has an effect. */
    admits: ({ metadata, position }: StoredEvent) => metadata.epoch >= epochAt(position),
  };
}
