import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { FollowStatus } from './follow-state.ts';

/** Registers gauges: how far the process has copied the Strapi that it follows. */
export function watchFollower(metrics: Metrics | undefined, status: (() => FollowStatus) | undefined): void {
  if (metrics === undefined || status === undefined) return;
  const leading = (value: (now: FollowStatus) => number | null | undefined) => () => {
    const now = status();
    const found = now.role === 'leading' ? value(now) : undefined;
    return found === null || found === undefined ? [] : [{ labels: {}, value: found }];
  };
  metrics.gauge(
    METRICS.followAge,
    leading((now) => now.ageSeconds),
  );
  metrics.gauge(
    METRICS.followReachable,
    leading((now) => (now.trouble === null ? 1 : 0)),
  );
  metrics.gauge(
    METRICS.followPending,
    leading((now) => now.pending),
  );
  metrics.gauge(
    METRICS.followKept,
    leading((now) => now.kept),
  );
  metrics.gauge(
    METRICS.followComparison,
    leading((now) => now.comparison?.seconds),
  );
  metrics.total(METRICS.followRequests, () => status().requests);
  metrics.total(METRICS.followEvents, () => status().events);
  metrics.total(METRICS.followWebhooks, () => status().webhooks);
}
