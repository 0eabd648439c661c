import { backoffMs } from '../../shared/backoff.ts';

/** A worker that ran for this long did not end because of its start. */
const SETTLED_MS = 60_000;

/**
 * Returns the number of workers that ended in a row, each soon after its start. `losses`: that number before this worker. `since`: start of
 * this worker by `performance.now()`; undefined: it has never served.
 */
export function countLoss(losses: number, since: number | undefined): number {
  const isSettled = since !== undefined && performance.now() - since >= SETTLED_MS;
  return isSettled ? 1 : losses + 1;
}

/**
 * Returns the milliseconds until the next worker is started. `losses`: as `countLoss` returns them. The pauses stay short, so that a server
 * is back within a second however often its worker ends. They leave some of a core to others.
 */
export function restartDelay(losses: number): number {
  return losses <= 1 ? 0 : backoffMs(losses - 1, { firstMs: 50, longestMs: 200 });
}
