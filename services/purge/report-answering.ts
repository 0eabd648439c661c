import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import { ANSWERING_LIMITS, type AnsweringLimits } from './answering-limits.ts';
import { type RunEnd, repeatWork } from './repeat-work.ts';

export type ReportAnsweringOptions = {
  readonly processes: Pick<AnsweringProcesses, 'report' | 'awaited'>;
  /** Name of this process. It changes with each restart. */
  readonly process: string;
  /** Resolves to the position that every later read of this process shows. */
  readonly shown: () => Promise<bigint>;
  readonly shape: () => string;
  /** Called once when reports begin to fail. Reports are repeated. */
  readonly failed: (error: unknown) => void;
  readonly limits?: AnsweringLimits;
};

/**
 * Permission for caches to keep answers of this process. `kept`: a leader purges every change after this process shows it. `asked`: no
 * leader does, so caches have to ask again. `silent`: this process could not report itself; it may be paused, or cut off.
 */
export type AnswerCaching = 'kept' | 'asked' | 'silent';

export type AnsweringReporter = ReturnType<typeof reportAnswering>;

/** Reports this process to the leader that purges, until it is closed. */
export function reportAnswering(options: ReportAnsweringOptions) {
  const { processes, process, shown, shape, failed, limits = ANSWERING_LIMITS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const opened = performance.now();
  /** Start times of the last report that has arrived, and of the last report that the leader has seen. */
  let reportedAt = opened;
  let awaitedAt = Number.NEGATIVE_INFINITY;
  const begun = new Map<number, number>();
  const isRecent = (time: number) => performance.now() - time < limits.longestSilenceMs;
  let beat = 0;
  /** Time of the next report that is sent even if the position has not changed. */
  let dueAt = opened;
  const hurry = createHurry(limits);
  const report = async (): Promise<void> => {
    const position = await shown();
    const begins = performance.now();
    const isDue = begins >= dueAt;
    if (!isDue && !hurry.isMore(position)) return;
    beat++;
    begun.set(beat, begins);
    for (const [earlier, time] of begun) if (!isRecent(time)) begun.delete(earlier);
    const isAcknowledged = awaitedAt > Number.NEGATIVE_INFINITY;
    await processes.report({ process, beat, position, shape: shape(), isAcknowledged });
    reportedAt = begins;
    hurry.reported(position);
    if (!isDue) return;
    dueAt = begins + limits.reportEveryMs;
    const beats = (await processes.awaited())?.beats;
    hurry.among(beats?.size ?? 1);
    const seen = beats?.get(process);
    if (seen !== undefined) awaitedAt = Math.max(awaitedAt, begun.get(seen) ?? awaitedAt);
  };
  const nextAt = ({ endedAt, isFailing }: RunEnd): number => {
    if (isFailing) return endedAt + limits.reportEveryMs;
    const soon = endedAt + hurry.pauseMs();
    return hurry.isNeeded() ? soon : Math.max(soon, dueAt);
  };
  const reporting = repeatWork(report, { nextAt, signal, failed });
  return {
    keeping(): AnswerCaching {
      if (!isRecent(reportedAt)) return 'silent';
      return isRecent(awaitedAt) ? 'kept' : 'asked';
    },
    /** The log has changes up to this position: the process reports itself as soon as its reads show them. */
    expect(position: bigint): void {
      if (hurry.expect(position)) reporting.wake();
    },
    async close(): Promise<void> {
      closing.abort();
      await reporting.done;
    },
  };
}

/** Decides when a process reads its position often: while the log has more than it has reported, for a limited time. */
function createHurry(limits: AnsweringLimits) {
  let [reported, expected] = [-1n, -1n];
  let since = Number.NEGATIVE_INFINITY;
  let processes = 1;
  return {
    isMore: (position: bigint) => position > reported,
    reported(position: bigint) {
      if (position > reported) since = performance.now();
      reported = position;
    },
    /** Returns whether the position is newer than all known ones. */
    expect(position: bigint) {
      if (position <= expected || position <= reported) return false;
      if (expected <= reported) since = performance.now();
      expected = position;
      return true;
    },
    among(count: number) {
      processes = count;
    },
    isNeeded: () => expected > reported && performance.now() - since < limits.hurryForMs,
    pauseMs: () =>
      Math.min(limits.reportEveryMs, Math.max(limits.hurryMs, processes * limits.hurryTogetherMs)),
  };
}
