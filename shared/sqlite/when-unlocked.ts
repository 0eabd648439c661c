import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from './failures.ts';

/** Wait of one statement for a lock, in milliseconds, on the thread that answers requests. */
export const SHORT_WAIT_MS = 20;
/** Pause until the next attempt. Other work runs meanwhile. */
const PAUSE_MS = 50;

/**
 * Runs work on a database that was opened with a short wait, and again while another process has locked the file. Rejects with the error of
 * the lock after `signal` is aborted. `work` stores all or nothing, because it is repeated.
 */
export async function whenUnlocked<Result>(work: () => Result, signal: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || signal.aborted) throw error;
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
