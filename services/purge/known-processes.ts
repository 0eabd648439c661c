import { type AnsweringReport, MOST_ANSWERING } from '../../shared/read-index/answering-processes.ts';
import type { AnsweringLimits } from './answering-limits.ts';

/** Processes that have reported themselves to the leader of one term. The leader waits for processes that are not silent. */
export type KnownProcesses = {
  /** Notes a report of a process, if it is newer. Ignores new processes while MOST_ANSWERING are known. */
  note(report: AnsweringReport): void;
  names(): readonly string[];
  /** Position that every awaited process shows. */
  shown(): bigint;
  /** Awaited processes that show less than a position. */
  behind(position: bigint): readonly string[];
  /** The newest beat of each awaited process that shows a position. */
  beats(position: bigint): ReadonlyMap<string, number>;
  /** Processes that were silent so long that the leader removes their reports. */
  ended(): readonly string[];
  forget(process: string): void;
  /** The different shapes of their answers. */
  shapes(): ReadonlySet<string>;
};

/** A process and when its newest report was seen. */
type Known = { readonly report: AnsweringReport; readonly seenAt: number };

const EVERYTHING = 2n ** 64n;

/** Calls `returned` when a silent process reports again. Once `isSettled`, also for an unknown process that another leader knew. */
export function createKnownProcesses(
  limits: AnsweringLimits,
  isSettled: () => boolean,
  returned: () => void,
): KnownProcesses {
  const known = new Map<string, Known>();
  const silence = ({ seenAt }: Known) => performance.now() - seenAt;
  const waitedFor = () =>
    [...known.values()].filter((one) => silence(one) < limits.waitedForMs).map(({ report }) => report);
  return {
    note(report) {
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
    shown: () => leastOf(waitedFor().map(({ position }) => position)),
    behind: (than) => waitedFor().flatMap(({ process, position }) => (position < than ? [process] : [])),
    beats: (from) =>
      new Map(
        waitedFor().flatMap(({ process, beat, position }) => (position < from ? [] : [[process, beat]])),
      ),
    ended: () =>
      [...known.values()].flatMap((one) =>
        silence(one) < limits.forgottenAfterMs ? [] : [one.report.process],
      ),
    forget: (process) => void known.delete(process),
    shapes: () => new Set([...known.values()].map(({ report }) => report.shape)),
  };
}

function leastOf(positions: readonly bigint[]): bigint {
  let least = EVERYTHING;
  for (const position of positions) if (position < least) least = position;
  return least;
}
