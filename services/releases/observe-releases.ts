import { dueReleases, pendingReleases, type ReleaseState } from '../../shared/releases/release-state.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { CarryOut } from './carry-out.ts';

/**
 * Registers the metrics of releases, and returns a function that carries releases out and counts them. `led`: null if another process
 * carries them out.
 */
export function observeReleases(
  metrics: Metrics | undefined,
  led: () => ReleaseState | null,
  carryOut: CarryOut,
): CarryOut {
  if (metrics === undefined) return carryOut;
  const done = metrics.counter(METRICS.releasesDone);
  const failed = metrics.counter(METRICS.releasesFailed);
  const lateness = metrics.durations(METRICS.releaseLateness).series();
  metrics.gauge(METRICS.releasesPending, () => countOf(led(), (state) => pendingReleases(state).length));
  metrics.gauge(METRICS.releasesDue, () => countOf(led(), dueCount));
  return async (id, occasion) => {
    const ended = await carryOut(id, occasion);
    if (ended.kind === 'failed') failed.add(1);
    if (ended.kind !== 'done') return ended;
    done.add(1);
    const { lateMs } = ended.release;
    if (lateMs !== null) lateness.observe(lateMs);
    return ended;
  };
}

function countOf(state: ReleaseState | null, count: (state: ReleaseState) => number): number | undefined {
  return state === null ? undefined : count(state);
}

function dueCount(state: ReleaseState): number {
  return dueReleases(state.releases.values(), Date.now()).length;
}
