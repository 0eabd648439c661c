import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import { ANSWERING_LIMITS, type AnsweringLimits } from './answering-limits.ts';
import { createKnownProcesses, lesser } from './known-processes.ts';
import { type RunEnd, repeatWork } from './repeat-work.ts';

/** Processes that answer reads with the documents of the leader. */
export type AnsweringReaders = {
  readonly processes: Pick<AnsweringProcesses, 'reports' | 'reportsOf' | 'remove' | 'await'>;
  /** Position that searches show. No process shows more. */
  readonly visible: () => bigint;
};

export type AwaitAnsweringOptions = AnsweringReaders & {
  readonly epoch: number;
  /** Returns whether this process purges all changes from now on. Only then others allow caches to keep answers. */
  readonly isPurging: () => boolean;
  /** A silent process answers again. Caches may have got an old answer from it meanwhile. */
  readonly returned: () => void;
  /** Purges may go further than before. */
  readonly moved: () => void;
  readonly failed: (error: unknown) => void;
  readonly limits?: AnsweringLimits;
};

/** Processes that may fill caches, as the leader of one term knows them. */
export type AwaitedAnswers = ReturnType<typeof awaitAnswering>;

/**
 * Reads the reports of processes that answer reads, and acknowledges them. For two seconds from the beginning of an acknowledged report, a
 * process allows caches to keep answers. The leader waits longer than that for a silent process.
 */
export function awaitAnswering(options: AwaitAnsweringOptions) {
  const { processes, failed, limits = ANSWERING_LIMITS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const first = Promise.withResolvers<void>();
  /** Time of this leader's first acknowledgement. From then on no other leader acknowledges. */
  let begun: number | undefined;
  let [purged, expected] = [0n, 0n];
  const isSettled = () => begun !== undefined && performance.now() - begun > limits.waitedForMs;
  const known = createKnownProcesses(limits, isSettled, options.returned);
  const shown = () => (isSettled() ? known.shown() : undefined);
  const isExpecting = () => expected > (shown() ?? expected);
  /** Processes that delay a purge and may show more by now. */
  const lagging = () => (isExpecting() ? known.behind(lesser(expected, options.visible())) : []);
  const readAgain = async (names: readonly string[]): Promise<void> => {
    if (names.length === 0) return;
    for (const report of await processes.reportsOf(names)) known.note(report);
  };
  const readLagging = async (): Promise<void> => {
    const before = shown();
    await readAgain(lagging());
    if (shown() !== before) options.moved();
  };
  const acknowledge = async (): Promise<void> => {
    await readAgain(known.names());
    for (const report of await processes.reports()) known.note(report);
    const beats = options.isPurging() ? known.beats(purged) : new Map();
    await processes.await({ epoch: options.epoch, beats });
    begun ??= performance.now();
    first.resolve();
    options.moved();
    for (const process of known.ended()) {
      await processes.remove(process);
      known.forget(process);
    }
  };
  const pauseMs = limits.reportEveryMs / 2;
  const nextAcknowledgement = ({ endedAt }: RunEnd) => endedAt + pauseMs;
  const nextReading = ({ endedAt, isFailing }: RunEnd) => {
    if (isFailing || !isExpecting()) return endedAt + pauseMs;
    return endedAt + Math.max(limits.readMs, lagging().length * limits.readEachMs);
  };
  const acknowledging = repeatWork(acknowledge, { nextAt: nextAcknowledgement, signal, failed });
  // An acknowledgement may take long, because it is written to disk. When these requests fail, it fails as well.
  const hurrying = repeatWork(readLagging, { nextAt: nextReading, signal, failed: () => {} });
  return {
    /** Position that all processes show. undefined: some processes may still be unknown. */
    shown,
    /** Changes up to a position wait until all processes show them. Until then reports are read more often. */
    expect(position: bigint): void {
      if (position <= expected) return;
      expected = position;
      hurrying.wake();
    },
    /** Changes up to a position are purged. Caches may not keep answers of a process that does not show them yet. */
    purging(position: bigint): void {
      if (position > purged) purged = position;
    },
    /** Names everything besides content that shapes their answers. */
    shape: () => [...known.shapes()].sort().join(' '),
    /** Resolves after the reports were read once, or on close. */
    known: first.promise,
    async close(): Promise<void> {
      closing.abort();
      first.resolve();
      await Promise.all([acknowledging.done, hurrying.done]);
    },
  };
}
