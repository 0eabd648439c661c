import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { isForeign } from '../../../shared/event-store/unreadable.ts';
import type { GraphDatabase } from './graph-database.ts';

/** Number of events of other programs that the graph has skipped, and their positions; 0n: none. */
export type ForeignEvents = { readonly count: number; readonly first: bigint; readonly last: bigint };

export type ForeignEventCounter = ReturnType<typeof openForeignEvents>;

/** Reads the count of a graph's file; 0 in a new one. */
export function openForeignEvents(db: GraphDatabase) {
  let count = db.meta('foreign events') ?? 0;
  let first = BigInt(db.meta('first foreign event') ?? 0);
  let last = BigInt(db.meta('last foreign event') ?? 0);
  let isChanged = false;
  return {
    /** Records an event. Returns true if another program wrote it, so it is skipped. */
    skip(event: StoredEvent): boolean {
      if (!isForeign(event)) return false;
      if (count === 0) first = event.position;
      count += 1;
      last = event.position;
      isChanged = true;
      return true;
    },
    found: (): ForeignEvents => ({ count, first, last }),
    /** Must run in the transaction of the events. */
    flush(): void {
      if (!isChanged) return;
      db.setMeta('foreign events', count);
      db.setMeta('first foreign event', first);
      db.setMeta('last foreign event', last);
      isChanged = false;
    },
  };
}
