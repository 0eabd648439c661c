import { backoffMs } from '../../shared/backoff.ts';

/** Milliseconds until the next worker is started. `losses`: workers that ended one after the other, each soon after its start. */
export function restartDelay(losses: number): number {
  return losses <= 1 ? 0 : backoffMs(losses - 1, { firstMs: 100, longestMs: 10_000 });
}
