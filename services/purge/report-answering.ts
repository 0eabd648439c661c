import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import { ANSWERING_LIMITS, type AnsweringLimits } from './answering-limits.ts';
import { repeatWork } from './repeat-work.ts';

export type ReportAnsweringOptions = {
  readonly processes: Pick<AnsweringProcesses, 'report' | 'awaited'>;
  /** Name of this process, other after a restart. */
  readonly process: string;
  /** Resolves to the position that reads of this process show from now on. */
  readonly shown: () => Promise<bigint>;
  readonly shape: () => string;
  /** Called once when reports fail; they are repeated. */
  readonly failed: (error: unknown) => void;
  readonly limits?: AnsweringLimits;
};

/**
 * How long caches may keep answers of this process. `kept`: a leader purges every change after this process shows it. `asked`: no
 * leader does. `silent`: this process could not report itself; it may be paused, or cut off.
 */
export type AnswerKeeping = 'kept' | 'asked' | 'silent';

export type AnsweringReporter = {
  keeping(): AnswerKeeping;
  close(): Promise<void>;
};

/** Reports this process to the leader that purges, until it is closed. */
export function reportAnswering(options: ReportAnsweringOptions): AnsweringReporter {
  const { processes, process, shown, shape, failed, limits = ANSWERING_LIMITS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const opened = performance.now();
  /** When the last report began that has arrived, and the last one that the leader has seen. */
  let reportedAt = opened;
  let awaitedAt = Number.NEGATIVE_INFINITY;
  const begun = new Map<number, number>();
  const isRecent = (time: number) => performance.now() - time < limits.longestSilenceMs;
  let beat = 0;
  const report = async (): Promise<void> => {
    beat++;
    const position = await shown();
    const begins = performance.now();
    begun.set(beat, begins);
    for (const [earlier, time] of begun) if (!isRecent(time)) begun.delete(earlier);
    await processes.report({ process, beat, position, shape: shape() });
    reportedAt = begins;
    const seen = (await processes.awaited())?.beats.get(process);
    if (seen === undefined) return;
    awaitedAt = Math.max(awaitedAt, begun.get(seen) ?? awaitedAt);
  };
  const running = repeatWork(report, { pauseMs: limits.reportEveryMs, signal, failed });
  return {
    keeping() {
      if (!isRecent(reportedAt)) return 'silent';
      return isRecent(awaitedAt) ? 'kept' : 'asked';
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
