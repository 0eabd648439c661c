import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { FollowStatus } from './follow-state.ts';

/** Registers gauges of the follower's progress. */
export function watchFollower(metrics: Metrics | undefined, status: () => FollowStatus): void {
  const gauges = [
    [METRICS.followAge, ({ ageSeconds }: FollowStatus) => ageSeconds],
    [METRICS.followReachable, ({ trouble }: FollowStatus) => (trouble === null ? 1 : 0)],
    [METRICS.followPending, ({ pending }: FollowStatus) => pending],
    [METRICS.followKept, ({ kept }: FollowStatus) => kept],
    [METRICS.followComparison, ({ comparison }: FollowStatus) => comparison?.seconds],
  ] as const;
  for (const [definition, read] of gauges)
    metrics?.gauge(definition, () => {
      const now = status();
      return now.role === 'leading' ? (read(now) ?? undefined) : undefined;
    });
  metrics?.total(METRICS.followRequests, () => status().requests);
  metrics?.total(METRICS.followEvents, () => status().events);
  metrics?.total(METRICS.followWebhooks, () => status().webhooks);
}
