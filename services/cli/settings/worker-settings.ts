import { OUTPUT_LIMITS, type OutputLimits } from '../../http/sockets/bound-output.ts';
import { type SettingsTable, wholeNumber } from './setting.ts';

export const WORKER_SETTINGS = {
  workers: {
    flags: '--workers <number>',
    description:
      'number of processes that answer reads, with the embedded index. Each has its own index, and one of them writes (default: 1)',
    schema: wholeNumber(1, 64).default(1),
  },
} as const satisfies SettingsTable;

/** Returns the part of a limit that one of several processes may use. */
export function shareOf(limit: number, workers: number): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / workers));
}

/** Returns one process's part of the memory for unread answers. */
export function outputLimits(workers: number): OutputLimits {
  return {
    ...OUTPUT_LIMITS,
    unsentBytes: shareOf(OUTPUT_LIMITS.unsentBytes, workers),
    waiting: shareOf(OUTPUT_LIMITS.waiting, workers),
  };
}
