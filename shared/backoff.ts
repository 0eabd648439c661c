/** Bounds of the wait between attempts: it starts at `firstMs`, doubles after each failure, and is never longer than `longestMs`. */
export type Backoff = { readonly firstMs: number; readonly longestMs: number };

/** Returns the milliseconds to wait after this many failures, from 1 on. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1));
}

/** Shortens a wait by up to half, so that many callers do not retry at once. `random`: from 0 to 1. */
export function jittered(ms: number, random = Math.random()): number {
  return ms * (1 - random / 2);
}
