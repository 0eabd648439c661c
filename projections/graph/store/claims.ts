import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { epochAfter, isFenced } from '../../../shared/fleet/fence.ts';
import type { GraphDatabase } from './graph-database.ts';

/** The claims of the lease that the graph has applied. They decide which events take effect. */
export type Claims = ReturnType<typeof openClaims>;

/** Reads the newest epoch from the graph's file; 0 in a new one. */
export function openClaims(db: GraphDatabase) {
  /** Claims in order. The first represents everything before the graph was opened. */
  const claims: { readonly position: bigint; readonly epoch: number }[] = [
    { position: -1n, epoch: db.meta('epoch') ?? 0 },
  ];
  let isRaised = false;
  return {
    /** Records an event. Returns false if it was written under an older lease than a previous claim, so it has no effect. */
    admit(event: StoredEvent): boolean {
      const before = claims.at(-1)?.epoch ?? 0;
      const epoch = epochAfter(before, event);
      if (epoch === before) return !isFenced(event, epoch);
      claims.push({ position: event.position, epoch });
      isRaised = true;
      return true;
    },
    /** Returns the epoch of the newest claim before a position. The graph must have reached the position since it was opened. */
    epochAt: (position: bigint) => claims.findLast((claim) => claim.position < position)?.epoch ?? 0,
    /** Must run in the transaction of the events. */
    flush(): void {
      if (!isRaised) return;
      db.setMeta('epoch', claims.at(-1)?.epoch ?? 0);
      isRaised = false;
    },
  };
}
