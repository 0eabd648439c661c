import { setTimeout as delay } from 'node:timers/promises';

export type RepeatOptions = {
  /** Milliseconds between the end of one run and the next one. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** Called for the first failure in a row. */
  readonly failed: (error: unknown) => void;
};

/** Does work again and again until `signal` is aborted, also after failures. Resolves after the last run. */
export async function repeatWork(
  work: () => Promise<void>,
  { pauseMs, signal, failed }: RepeatOptions,
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing && !signal.aborted) failed(error);
      isFailing = true;
    }
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
