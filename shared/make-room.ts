import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Makes room for requests between pieces of work that they would have to wait for. */
export type MakeRoom = (worked: number) => Promise<void>;

/** Times the work, where others take all they get: they wait a fifteenth longer for that, and a tenth with garbage and cold caches. */
const LONGEST_REST = 14;
const LONGEST_PIECE_MS = 10;

/**
 * Resolves after as many milliseconds as the work took, and after up to fourteen times as many where the process was busy in the
 * last rests.
 */
export function createMakeRoom(): MakeRoom {
  let busy = 0;
  return async (worked) => {
    const before: EventLoopUtilization = performance.eventLoopUtilization();
    // What took much longer than pieces do was held up itself, by what else the machine does.
    await delay(Math.min(worked, LONGEST_PIECE_MS) * (1 + busy * (LONGEST_REST - 1)));
    // Short rests say little: several of them count.
    busy = (busy + performance.eventLoopUtilization(before).utilization) / 2;
  };
}
