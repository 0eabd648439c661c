import { setTimeout as delay } from 'node:timers/promises';

/** End of a run. Times are milliseconds of `performance.now()`. */
export type RunEnd = { readonly endedAt: number; readonly isFailing: boolean };

export type RepeatOptions = {
  /** Returns the time of the next run. Called again after `wake`. */
  readonly nextAt: (last: RunEnd) => number;
  readonly signal: AbortSignal;
  /** Called for the first failure in a row. */
  readonly failed: (error: unknown) => void;
};

/**
 * Does work again and again until `signal` is aborted, also after failures. `wake`: the next run may have to be earlier. `done` resolves
 * after the last run.
 */
export function repeatWork(work: () => Promise<void>, { nextAt, signal, failed }: RepeatOptions) {
  let isFailing = false;
  let resting = new AbortController();
  const wake = () => resting.abort();
  signal.addEventListener('abort', wake, { once: true });
  const rest = async (): Promise<void> => {
    const last = { endedAt: performance.now(), isFailing };
    for (;;) {
      const left = nextAt(last) - performance.now();
      if (left <= 0 || signal.aborted) return;
      resting = new AbortController();
      await delay(left, undefined, { signal: resting.signal, ref: false }).catch(() => {});
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) failed(error);
        isFailing = true;
      }
      await rest();
    }
  };
  // Never rejects: failures of the work are reported.
  return { wake, done: run() };
}
