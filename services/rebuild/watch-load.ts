import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds that 99 % of what a process does in a stretch of time waits for its turn at most. */
export type LoadSample = { readonly delayMs: number };

const SAMPLE_MS = 500;
const RESOLUTION_MS = 2;

/** How long requests wait in this process, twice a second, until the signal. */
export async function* watchLoad(signal: AbortSignal): AsyncGenerator<LoadSample> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  try {
    while (!signal.aborted) {
      delays.reset();
      await delay(SAMPLE_MS, undefined, { signal, ref: false }).catch(() => {});
      yield { delayMs: delays.percentile(99) / 1e6 };
    }
  } finally {
    delays.disable();
  }
}
