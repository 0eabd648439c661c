import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Batches items from an object stream. It reads nothing between two calls, so the stream's buffer fills and backpressure reaches the
 * sender.
 */
export function createInbox<T>(stream: Readable, signal: AbortSignal) {
  let failure: Error | undefined;
  let woken = false;
  let resume: () => void = () => undefined;
  const fail = (error: Error) => {
    failure ??= error;
    resume();
  };
  stream.on('readable', () => resume());
  // The listener stays for the life of the stream, because a failure after the last batch must not end the process.
  stream.on('error', fail);
  stream.on('end', () => fail(new SubscriptionEnded('the server ended the subscription')));
  stream.on('close', () => fail(new SubscriptionEnded('the subscription was closed')));
  const stop = () => resume();
  signal.addEventListener('abort', stop);

  const take = (limit: number): readonly T[] => {
    const batch: T[] = [];
    while (batch.length < limit) {
      const item = stream.read() as T | null;
      if (item === null) break;
      batch.push(item);
    }
    return batch;
  };
  return {
    /**
     * Returns up to `limit` items that have arrived, in order; waits for the first. Returns none after `wake` was called, and undefined
     * when the signal is aborted. Rejects when the stream failed or ended, after all earlier items were returned.
     */
    async next(limit: number): Promise<readonly T[] | undefined> {
      while (!signal.aborted) {
        // Items that arrive together, or while the caller handled the previous ones, make one batch: each costs its reader a transaction.
        await nextTurn();
        const batch = take(limit);
        if (batch.length > 0) return batch;
        if (failure !== undefined) throw failure;
        if (woken) {
          woken = false;
          return [];
        }
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return undefined;
    },
    /** Returns whether an item waits. */
    hasMore: () => stream.readableLength > 0,
    wake(): void {
      woken = true;
      resume();
    },
    /** Makes `next` reject after all items that have arrived. */
    fail,
    /** Stops listening to the signal. */
    close: () => signal.removeEventListener('abort', stop),
  };
}

/** Error for a stream that ended, which a subscription never does by itself. It is not an error of the client. */
export class SubscriptionEnded extends Error {}
