import { setTimeout as delay } from 'node:timers/promises';

export type AskedWorkOptions = {
  /** The work may reject after `close`. */
  readonly work: () => Promise<void>;
  /** Pause in milliseconds after a failure. Then the work is done again. */
  readonly againMs: number;
  readonly failed: (error: unknown) => void;
};

/** Does work when it is asked to, and once more if it is asked meanwhile. */
export function createAskedWork({ work, againMs, failed }: AskedWorkOptions) {
  const closing = new AbortController();
  const { signal } = closing;
  let isAsked = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (isAsked && !signal.aborted) {
      isAsked = false;
      try {
        await work();
      } catch (error) {
        if (signal.aborted) break;
        failed(error);
        isAsked = true;
        await delay(againMs, undefined, { signal }).catch(() => {});
      }
    }
    running = undefined;
  };
  return {
    /** Aborted by `close`. */
    signal,
    /** There may be something to do. */
    look(): void {
      isAsked = true;
      // Never rejects: a failure is reported and repeated.
      if (!signal.aborted) running ??= run();
    },
    async close(): Promise<void> {
      closing.abort();
      await running;
    },
  };
}
