import { setImmediate as nextTurn } from 'node:timers/promises';

export type Inbox<T> = {
  /**
   * Up to `limit` of what has arrived, in order; waits for it. None after `wake` was called. Undefined when the signal says stop.
   * Rejects when the stream failed or ended, after everything that arrived before has been taken.
   */
  next(limit: number): Promise<readonly T[] | undefined>;
  /** Whether something waits to be taken. */
  hasMore(): boolean;
  wake(): void;
  /** Everything that has not been taken is followed by this failure. */
  fail(error: Error): void;
  /** Stops listening to the signal. */
  close(): void;
};

/** As much of a Readable as is needed: the client's own type of it is not Node's. */
type ObjectStream = {
  read(): unknown;
  readonly readableLength: number;
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/**
 * Batches from an object stream. Nothing is taken from it between two calls, so its buffer fills, and back-pressure reaches
 * the sender.
 */
export const createInbox = <T>(stream: ObjectStream, signal: AbortSignal): Inbox<T> => {
  let failure: Error | undefined;
  let woken = false;
  let resume: () => void = () => undefined;
  const fail = (error: Error) => {
    failure ??= error;
    resume();
  };
  stream.on('readable', () => resume());
  // Stays for the stream's life: what fails after the last batch was taken must not end the process.
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
        // What arrived with it makes one batch: each costs whoever takes it a transaction.
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
};

/** Not an error of the client's: the stream came to its end, which a subscription never does by itself. */
export class SubscriptionEnded extends Error {}
