import { type AnsweringReport, MOST_ANSWERING } from '../../shared/read-index/answering-processes.ts';
import type { AnsweringLimits } from './answering-limits.ts';

/** A process and when its newest report was seen. */
type Known = { readonly report: AnsweringReport; readonly seenAt: number };

const EVERYTHING = 2n ** 64n;

/**
 * Creates the list of processes that have reported themselves to the leader of one term. The leader waits for those that are not silent.
 * Calls `returned` when a silent process reports again, and once `isSettled` also for an unknown process that another leader knew.
 */
export function createKnownProcesses(
  limits: AnsweringLimits,
  isSettled: () => boolean,
  returned: () => void,
) {
  const known = new Map<string, Known>();
  const silence = ({ seenAt }: Known) => performance.now() - seenAt;
  const waitedFor = () =>
    [...known.values()].filter((one) => silence(one) < limits.waitedForMs).map(({ report }) => report);
  return {
    /** Notes a report of a process, if it is newer. Ignores new processes while MOST_ANSWERING are known. */
    note(report: AnsweringReport): void {
      const before = known.get(report.process);
      // A search may return an earlier report than a read by name.
      if (before !== undefined && report.beat <= before.report.beat) return;
      if (before === undefined && known.size >= MOST_ANSWERING) return;
      const isBack =
        before === undefined ? report.isAcknowledged && isSettled() : silence(before) >= limits.waitedForMs;
      known.set(report.process, { report, seenAt: performance.now() });
      if (isBack) returned();
    },
    names: () => [...known.keys()],
    /** Position that every awaited process shows. */
    shown: () => waitedFor().reduce((least, { position }) => lesser(least, position), EVERYTHING),
    /** Awaited processes that show less than a position. */
    behind: (than: bigint) =>
      waitedFor().flatMap(({ process, position }) => (position < than ? [process] : [])),
    /** The newest beat of each awaited process that shows a position. */
    beats: (from: bigint) => {
      const shown = waitedFor().filter(({ position }) => position >= from);
      return new Map(shown.map(({ process, beat }) => [process, beat]));
    },
    /** Processes that were silent so long that the leader removes their reports. */
    ended: () =>
      [...known.values()].flatMap((one) =>
        silence(one) < limits.forgottenAfterMs ? [] : [one.report.process],
      ),
    forget: (process: string) => void known.delete(process),
    /** The different shapes of their answers. */
    shapes: () => new Set([...known.values()].map(({ report }) => report.shape)),
  };
}

/** Returns the lesser of two positions. */
export function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
