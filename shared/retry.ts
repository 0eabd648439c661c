import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, backoffMs, jittered } from './backoff.ts';

export type RetryOptions = {
  readonly backoff: Backoff;
  /** True to vary the waits, because many processes may retry at the same time. */
  readonly isJittered?: boolean;
  /** Ends waits, and prevents further attempts. */
  readonly signal: AbortSignal;
  /** Called after each failure. It throws if another attempt does not help. */
  readonly failed: (error: unknown, retryInMs: number) => void;
};

/** Repeats `work` until it succeeds, and returns its result; undefined once `signal` is aborted. */
export async function retry<Result>(
  work: () => Promise<Result>,
  { backoff, isJittered = false, signal, failed }: RetryOptions,
): Promise<Result | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await work();
    } catch (error) {
      const wait = backoffMs(failures, backoff);
      const retryInMs = isJittered ? jittered(wait) : wait;
      failed(error, retryInMs);
      await delay(retryInMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}
