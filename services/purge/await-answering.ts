import type { AnsweringProcesses, AnsweringReport } from '../../shared/read-index/answering-processes.ts';
import { ANSWERING_LIMITS, type AnsweringLimits } from './answering-limits.ts';
import { repeatWork } from './repeat-work.ts';

export type AwaitAnsweringOptions = {
  readonly processes: Pick<AnsweringProcesses, 'reports' | 'remove' | 'await'>;
  readonly epoch: number;
  /** This process purges all changes from now on: only then others let caches keep answers. */
  readonly isPurging: () => boolean;
  /** A process was silent, and answers again: caches may have got an old answer of it meanwhile. */
  readonly returned: () => void;
  /** Purges may go further than before. */
  readonly moved: () => void;
  readonly failed: (error: unknown) => void;
  readonly limits?: AnsweringLimits;
};

/** Processes that may fill caches, as the leader of one term knows them. */
export type AwaitedAnswers = {
  /** Position that all of them show. undefined: some of them may still be unknown. */
  shown(): bigint | undefined;
  /** Changes up to here are purged: a process that does not show them yet lets caches keep nothing. */
  purging(position: bigint): void;
  /** Names everything besides content that shapes their answers. */
  shape(): string;
  /** Resolves after the reports were read once, or on close. */
  readonly known: Promise<void>;
  close(): Promise<void>;
};

/** A process and when its newest report was seen. */
type Known = { readonly report: AnsweringReport; readonly seenAt: number };

const EVERYTHING = 2n ** 64n;

/**
 * Reads the reports of processes that answer reads, and tells these that they are waited for. A process lets caches keep answers for
 * two seconds from the beginning of a report that the leader has acknowledged; the leader waits for it longer than that.
 */
export function awaitAnswering(options: AwaitAnsweringOptions): AwaitedAnswers {
  const { processes, failed, limits = ANSWERING_LIMITS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const known = new Map<string, Known>();
  const first = Promise.withResolvers<void>();
  /** When this leader has acknowledged reports for the first time: no other one does from then on. */
  let begun: number | undefined;
  let purged = 0n;
  const isWaitedFor = ({ seenAt }: Known) => performance.now() - seenAt < limits.waitedForMs;
  const isSettled = () => begun !== undefined && performance.now() - begun > limits.waitedForMs;
  const note = (report: AnsweringReport): void => {
    const before = known.get(report.process);
    if (before?.report.beat === report.beat) return;
    const isBack = before === undefined ? report.beat > 1 && isSettled() : !isWaitedFor(before);
    known.set(report.process, { report, seenAt: performance.now() });
    if (isBack) options.returned();
  };
  const look = async (): Promise<void> => {
    for (const report of await processes.reports()) note(report);
    const shows = [...known.values()].filter((one) => isWaitedFor(one) && one.report.position >= purged);
    const beats = new Map(shows.map(({ report }) => [report.process, report.beat]));
    await processes.await({ epoch: options.epoch, beats: options.isPurging() ? beats : new Map() });
    begun ??= performance.now();
    first.resolve();
    options.moved();
    for (const [process, { seenAt }] of known) {
      if (performance.now() - seenAt < limits.forgottenAfterMs) continue;
      await processes.remove(process);
      known.delete(process);
    }
  };
  const running = repeatWork(look, { pauseMs: limits.reportEveryMs / 2, signal, failed });
  return {
    shown() {
      if (!isSettled()) return undefined;
      let least = EVERYTHING;
      for (const one of known.values())
        if (isWaitedFor(one) && one.report.position < least) least = one.report.position;
      return least;
    },
    purging(position) {
      if (position > purged) purged = position;
    },
    shape: () => [...new Set([...known.values()].map(({ report }) => report.shape))].sort().join(' '),
    known: first.promise,
    async close() {
      closing.abort();
      first.resolve();
      await running;
    },
  };
}
