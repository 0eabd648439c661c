import { backoffMs } from '../../shared/backoff.ts';

/** A worker that ran for so long did not end because of how it started. */
const SETTLED_MS = 60_000;

/**
 * Counts a worker that ended, after `losses` that ended one after the other, each soon after its start. `since`: when it started, by
 * `performance.now()`; undefined: it did not get that far.
 */
export function countLoss(losses: number, since: number | undefined): number {
  const isSettled = since !== undefined && performance.now() - since >= SETTLED_MS;
  return isSettled ? 1 : losses + 1;
}

/** Milliseconds until the next worker is started. `losses`: as counted. */
export function restartDelay(losses: number): number {
  return losses <= 1 ? 0 : backoffMs(losses - 1, { firstMs: 100, longestMs: 10_000 });
}
