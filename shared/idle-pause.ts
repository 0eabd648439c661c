import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Longest pause, as a multiple of the work. If other work takes all remaining time, the other work takes a fifteenth longer. With garbage
 * collection and cold caches it takes a tenth longer.
 */
const LONGEST_REST = 14;
const LONGEST_PIECE_MS = 10;

/**
 * Creates a pause after a piece of work, so that requests need not wait for the next piece. The pause is as long as the work. It is up to
 * fourteen times as long if the process was busy in recent pauses.
 */
export function createIdlePause() {
  let busy = 0;
  return async (worked: number): Promise<void> => {
    const before = performance.eventLoopUtilization();
    // Work that took much longer than a piece was itself delayed by other load on the machine.
    await delay(Math.min(worked, LONGEST_PIECE_MS) * (1 + busy * (LONGEST_REST - 1)));
    // One short pause says little, so several are averaged.
    busy = (busy + performance.eventLoopUtilization(before).utilization) / 2;
  };
}
