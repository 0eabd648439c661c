import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between pieces of work, so that requests need not wait for them. */
export type IdlePause = (worked: number) => Promise<void>;

/** Times the work, where others take all they get: they wait a fifteenth longer for that, and a tenth with garbage and cold caches. */
const LONGEST_REST = 14;
const LONGEST_PIECE_MS = 10;

/** Pauses as long as the work took, and up to fourteen times as long if the process was busy in the last pauses. */
export function createIdlePause(): IdlePause {
  let busy = 0;
  return async (worked) => {
    const before: EventLoopUtilization = performance.eventLoopUtilization();
    // Work that took much longer than a piece was itself delayed by other load on the machine.
    await delay(Math.min(worked, LONGEST_PIECE_MS) * (1 + busy * (LONGEST_REST - 1)));
    // Short pauses say little: several of them count.
    busy = (busy + performance.eventLoopUtilization(before).utilization) / 2;
  };
}
