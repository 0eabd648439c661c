import { createClaims } from '../../../shared/fleet/claims.ts';
import type { GraphDatabase } from './graph-database.ts';

/** The claims of the lease that the graph has applied. */
export type AppliedClaims = ReturnType<typeof openClaims>;

/** Reads the newest epoch from the graph's file; 0 in a new one. */
export function openClaims(db: GraphDatabase) {
  let stored = db.meta('epoch') ?? 0;
  const { add, epochAt, newest } = createClaims(stored);
  return {
    add,
    epochAt,
    /** Must run in the transaction of the events. */
    flush(): void {
      if (newest() === stored) return;
      stored = newest();
      db.setMeta('epoch', stored);
    },
  };
}
