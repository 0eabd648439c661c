import { setTimeout as delay } from 'node:timers/promises';

/** Resolves with true as soon as reads show a position, with false after `timeoutMs`, or sooner. */
export type Shows = (position: bigint, timeoutMs: number) => Promise<boolean>;

/** Maximum time of one wait, so that the end of a term is noticed. */
const WAIT_MS = 500;
/** Pause between two waits, for reads that do not wait. */
const PAUSE_MS = 50;

/** Resolves with true when reads show a position, with false when `signal` is aborted first. */
export async function untilShown(shows: Shows, position: bigint, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await shows(position, WAIT_MS)) return true;
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}
