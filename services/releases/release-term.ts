import { isPending, type Release, scheduledReleases, timeOf } from '../../shared/releases/release-state.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import type { OutboxTerm } from '../outbox/lead-outbox.ts';
import type { CarriedOut, CarryOut } from './carry-out.ts';
import type { KnownReleases } from './watch-releases.ts';

/** Receives what the scheduler did. */
export type ReleaseReport = {
  /** A scheduled release was carried out, or failed: its `failure` then has the reasons. */
  ended(release: Release): void;
  /** The scheduler stopped for now, and begins again. */
  error(error: unknown): void;
};

export type ReleaseTermOptions = {
  readonly known: Pick<KnownReleases, 'state'>;
  readonly carryOut: CarryOut;
  readonly report: ReleaseReport;
  /** Milliseconds since 1970, which may jump. */
  readonly now: () => number;
};

/** Author of scheduled releases. */
const SCHEDULER = { actor: { kind: 'process', id: 'releases' } } as const;
/** Maximum time until a jump of the clock is noticed. */
const LOOK_MS = 500;

/** Returns whether a release waits for its time. */
export function hasScheduled({ state }: Pick<KnownReleases, 'state'>): boolean {
  return [...state().releases.values()].some((release) => isPending(release) && release.scheduledAt !== null);
}

/** Carries out scheduled releases at their times, one after the other, and at once those whose time has passed. */
export function startReleaseTerm({ known, carryOut, report, now }: ReleaseTermOptions): OutboxTerm {
  const closing = new AbortController();
  const { signal } = closing;
  let woken = Promise.withResolvers<void>();
  const look = () => woken.resolve();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      woken = Promise.withResolvers<void>();
      const [next] = scheduledReleases(known.state().releases.values());
      const waitMs = next === undefined ? LOOK_MS : timeOf(next) - now();
      if (next !== undefined && waitMs <= 0) {
        reportEnd(report, await carryOut(next.id, { author: SCHEDULER, isDue: true }));
        continue;
      }
      const timer = setTimeout(look, Math.min(LOOK_MS, waitMs));
      await untilAborted(woken.promise, signal);
      clearTimeout(timer);
    }
  };
  const done = run();
  return {
    look,
    done,
    /** Resolves when the release that is being carried out has ended. */
    async close() {
      closing.abort();
      await done.catch(() => {});
    },
  };
}

function reportEnd(report: ReleaseReport, ended: CarriedOut): void {
  if (ended.kind !== 'gone') report.ended(ended.release);
}
