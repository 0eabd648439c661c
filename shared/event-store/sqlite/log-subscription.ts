import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventHandler, StoredEvent, Subscription } from '../event-store.ts';

/** Log as a subscriber reads it. */
export type LogSource = {
  /** Returns up to `limit` of the namespace's events after this position. Returns none only if there are none yet. */
  next(after: bigint, limit: number): Found;
  /** Returns the position up to which the log is known. */
  last(): bigint;
};

export type Found = {
  readonly events: readonly StoredEvent[];
  /** True if the namespace has events up to `upTo`, in any stream. The handler is then called at once. */
  readonly hasPassed: boolean;
  /** Position up to which the log was searched. */
  readonly upTo: bigint;
};

export type LogSubscription = Subscription & {
  /** Notifies the subscription that the log has grown. */
  wake(): void;
};

/** Milliseconds between calls of a handler for events that are not for it, because each call may cost it a transaction. */
const PASS_OVER_MS = 250;

/**
 * Calls `handle` with every event of the namespace after `after`, in order and each once, then waits for new ones. It requests a batch only
 * when the previous one is handled, so a slow handler costs no memory. While it lags, the event loop runs between batches. Events of other
 * namespaces cause a call without events, a few times per second.
 */
export function subscribeToLog(
  source: LogSource,
  after: bigint,
  handle: EventHandler,
  batchSize: number,
): LogSubscription {
  let closed = false;
  let wake: () => void = () => undefined;
  const woken = async (ms: number | undefined) => {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  };

  const run = async () => {
    let at = after;
    let handled = after;
    let handledAt = Number.NEGATIVE_INFINITY;
    await nextTurn();
    while (!closed) {
      const { events, hasPassed, upTo } = source.next(at, batchSize);
      at = upTo;
      const restMs = handledAt + PASS_OVER_MS - performance.now();
      if (!hasPassed && (upTo === handled || restMs > 0)) {
        // No event is missed between reading and waiting, because both happen in one turn and commits in another.
        await woken(upTo === handled ? undefined : restMs);
        continue;
      }
      await handle(events, upTo);
      handled = upTo;
      handledAt = performance.now();
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
}
