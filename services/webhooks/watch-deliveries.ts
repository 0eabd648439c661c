import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { WebhookReport } from './term-options.ts';

/** Returns a report that counts attempts as well. */
export function countAttempts(metrics: Metrics | undefined, report: WebhookReport): WebhookReport {
  const delivered = metrics?.counter(METRICS.webhooksDelivered);
  const failed = metrics?.counter(METRICS.webhooksFailed);
  return {
    error: report.error,
    attempted(delivery, attempt) {
      (attempt.state === 'delivered' ? delivered : failed)?.add(1);
      report.attempted(delivery, attempt);
    },
  };
}

/** Registers gauges of the waiting deliveries, while this process is the leader. */
export function watchDeliveries(
  metrics: Metrics | undefined,
  store: Pick<DeliveryStore, 'backlog'>,
  isLeading: () => boolean,
): void {
  if (metrics === undefined) return;
  const leading = (value: () => number) => () => (isLeading() ? [{ labels: {}, value: value() }] : []);
  metrics.gauge(
    METRICS.webhooksWaiting,
    leading(() => store.backlog().waiting),
  );
  metrics.gauge(
    METRICS.webhooksParked,
    leading(() => store.backlog().parked),
  );
  metrics.gauge(
    METRICS.webhooksOldest,
    leading(() => {
      const { oldest } = store.backlog();
      return oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1_000;
    }),
  );
}
