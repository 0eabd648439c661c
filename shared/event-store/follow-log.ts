import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventHandler, StoredEvent, Subscription } from './event-store.ts';

/** What a follower reads of a log. */
export type LogSource = {
  /** Up to `limit` events after this position, none only when there are none yet. */
  next(after: bigint, limit: number): readonly StoredEvent[];
  /** Position of the last event known. */
  last(): bigint;
};

export type Follower = Subscription & {
  /** Tells the follower that the log has grown. */
  wake(): void;
};

/**
 * Hands `handle` every event after `after`, in order and each once, and then waits to be woken. The follower asks for a batch
 * only when the last one is handled, so a slow handler costs no memory; while it is behind it lets the event loop turn
 * between batches.
 */
export const followLog = (
  source: LogSource,
  after: bigint,
  handle: EventHandler,
  batchSize: number,
): Follower => {
  let closed = false;
  let wake: () => void = () => undefined;

  const run = async () => {
    let at = after;
    await nextTurn();
    while (!closed) {
      const events = source.next(at, batchSize);
      const last = events.at(-1);
      if (last === undefined) {
        // Nothing can be missed in between: reading and waiting happen in one turn, and commits in another.
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      await handle(events, last.position);
      at = last.position;
      if (at < source.last()) await nextTurn();
    }
  };
  const done = run();
  return {
    done,
    wake: () => wake(),
    async close() {
      closed = true;
      wake();
      await done.catch(() => undefined);
    },
  };
};
