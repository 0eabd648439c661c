import { setTimeout as delay } from 'node:timers/promises';
import type { RequestPace } from './reconcile.ts';

/**
 * At most so many requests a second, evenly. It uses the monotonic clock: after the clock of the machine was set back, the next request
 * would wait until that clock is where it was.
 */
export function createRequestPace(rate: number, signal: AbortSignal): RequestPace {
  let next = performance.now();
  return async () => {
    const now = performance.now();
    next = Math.max(now, next + 1000 / rate);
    await sleep(next - now, signal);
  };
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
