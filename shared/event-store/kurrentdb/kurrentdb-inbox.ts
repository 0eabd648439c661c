import { setImmediate as nextTurn } from 'node:timers/promises';

export type Inbox<T> = {
  /**
   * Returns up to `limit` arrived items, in order; waits for one. Returns none after `wake` was called, and undefined
   * when the signal is aborted. Rejects when the stream failed or ended, after all earlier items were returned.
   */
  next(limit: number): Promise<readonly T[] | undefined>;
  /** Returns whether an item waits. */
  hasMore(): boolean;
  wake(): void;
  /** Fails after all items that have arrived. */
  fail(error: Error): void;
  /** Stops listening to the signal. */
  close(): void;
};

/** The part of a Readable that is needed: the client's type of it differs from Node's. */
type ObjectStream = {
  read(): unknown;
  readonly readableLength: number;
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/**
 * Batches items from an object stream. Between two calls it takes nothing, so the stream's buffer fills and
 * backpressure reaches the sender.
 */
export function createInbox<T>(stream: ObjectStream, signal: AbortSignal): Inbox<T> {
  let failure: Error | undefined;
  let woken = false;
  let resume: () => void = () => undefined;
  const fail = (error: Error) => {
    failure ??= error;
    resume();
  };
  stream.on('readable', () => resume());
  // Remains for the stream's life: a failure after the last batch must not end the process.
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
    async next(limit) {
      while (!signal.aborted) {
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
        // Items that arrived together make one batch: each batch costs its reader a transaction.
        await nextTurn();
      }
      return undefined;
    },
    hasMore: () => stream.readableLength > 0,
    wake() {
      woken = true;
      resume();
    },
    fail,
    close: () => signal.removeEventListener('abort', stop),
  };
}

/** Not an error of the client's: the stream ended, which a subscription never does by itself. */
export class SubscriptionEnded extends Error {}
