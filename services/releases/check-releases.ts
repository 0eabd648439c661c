import { type Release, timeOf } from '../../shared/releases/release-state.ts';
import type { ConditionCheck } from '../operating/conditions.ts';

/** Returns a check whether a scheduled release has failed at its time. `releases`: null if another process carries them out. */
export function checkReleases(releases: () => readonly Release[] | null): ConditionCheck {
  return () => {
    const failed = (releases() ?? []).filter(
      (release) => release.failure !== null && Date.parse(release.failure.at) >= timeOf(release),
    );
    const [first] = failed;
    if (first === undefined) return undefined;
    const others = failed.length === 1 ? '' : `, and ${failed.length - 1} more`;
    return { code: 'releases-failed', message: `the scheduled release "${first.name}" failed${others}` };
  };
}
