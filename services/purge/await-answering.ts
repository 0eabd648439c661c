import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import { ANSWERING_LIMITS, type AnsweringLimits } from './answering-limits.ts';
import { createKnownProcesses } from './known-processes.ts';
import { repeatWork } from './repeat-work.ts';

/** Processes that answer reads with the documents of the leader. */
export type AnsweringReaders = {
  readonly processes: Pick<AnsweringProcesses, 'reports' | 'reportsOf' | 'remove' | 'await'>;
  /** Position that searches show: no process shows more. */
  readonly visible: () => bigint;
};

export type AwaitAnsweringOptions = AnsweringReaders & {
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
  /** Changes up to here wait for processes to show them: reports are read more often until then. */
  expect(position: bigint): void;
  /** Changes up to here are purged: a process that does not show them yet lets caches keep nothing. */
  purging(position: bigint): void;
  /** Names everything besides content that shapes their answers. */
  shape(): string;
  /** Resolves after the reports were read once, or on close. */
  readonly known: Promise<void>;
  close(): Promise<void>;
};

/**
 * Reads the reports of processes that answer reads, and tells these that they are waited for. A process lets caches keep answers for
 * two seconds from the beginning of a report that the leader has acknowledged; the leader waits for it longer than that.
 */
export function awaitAnswering(options: AwaitAnsweringOptions): AwaitedAnswers {
  const { processes, failed, limits = ANSWERING_LIMITS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const first = Promise.withResolvers<void>();
  /** When this leader has acknowledged reports for the first time: no other one does from then on. */
  let begun: number | undefined;
  let [purged, expected] = [0n, 0n];
  const isSettled = () => begun !== undefined && performance.now() - begun > limits.waitedForMs;
  const known = createKnownProcesses(limits, isSettled, options.returned);
  const shown = () => (isSettled() ? known.shown() : undefined);
  const isExpecting = () => expected > (shown() ?? expected);
  /** Processes that can show more of what is to be purged. */
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
  const acknowledging = repeatWork(acknowledge, {
    nextAt: ({ endedAt }) => endedAt + pauseMs,
    signal,
    failed,
  });
  // A request that acknowledges may take long: it is written to disk.
  const hurrying = repeatWork(readLagging, {
    nextAt: ({ endedAt, isFailing }) => {
      if (isFailing || !isExpecting()) return endedAt + pauseMs;
      return endedAt + Math.max(limits.readMs, lagging().length * limits.readEachMs);
    },
    signal,
    // The other requests fail as well.
    failed: () => {},
  });
  return {
    shown,
    expect(position) {
      if (position <= expected) return;
      expected = position;
      hurrying.wake();
    },
    purging(position) {
      if (position > purged) purged = position;
    },
    shape: () => [...known.shapes()].sort().join(' '),
    known: first.promise,
    async close() {
      closing.abort();
      first.resolve();
      await Promise.all([acknowledging.done, hurrying.done]);
    },
  };
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
