import { type AnsweringReport, MOST_ANSWERING } from '../../shared/read-index/answering-processes.ts';
import type { AnsweringLimits } from './answering-limits.ts';

/** Processes that have reported themselves to the leader of one term. It waits for those that are not silent. */
export type KnownProcesses = {
  /** Notes a report of a process, if it is news. Ignores new processes while MOST_ANSWERING are known. */
  note(report: AnsweringReport): void;
  names(): readonly string[];
  /** Position that all processes show that are waited for. */
  shown(): bigint;
  /** Processes that are waited for and show less than that. */
  behind(position: bigint): readonly string[];
  /** The newest beat of each process that is waited for and shows a position. */
  beats(position: bigint): ReadonlyMap<string, number>;
  /** Processes that were silent for so long that their reports are removed. */
  ended(): readonly string[];
  forget(process: string): void;
  /** The different shapes of their answers. */
  shapes(): ReadonlySet<string>;
};

/** A process and when its newest report was seen. */
type Known = { readonly report: AnsweringReport; readonly seenAt: number };

const EVERYTHING = 2n ** 64n;

/** `returned` is called for a process that was silent; also for an unknown one that another leader knew, once `isSettled`. */
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
      // A search may find an earlier report than the one that was read by name.
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
