import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { Backlog } from './delivery-store.ts';
import type { WebhookReport } from './term-options.ts';

/** Returns a report that counts attempts as well. */
export function countAttempts(metrics: Metrics | undefined, report: WebhookReport): WebhookReport {
  const delivered = metrics?.counter(METRICS.webhooksDelivered);
  const failed = metrics?.counter(METRICS.webhooksFailed);
  return {
    ...report,
    attempted(delivery, attempt) {
      (attempt.state === 'delivered' ? delivered : failed)?.add(1);
      report.attempted(delivery, attempt);
    },
  };
}

/** Registers gauges of the waiting deliveries. `backlog`: null if another process delivers. */
export function watchDeliveries(metrics: Metrics | undefined, backlog: () => Backlog | null): void {
  const gauges = [
    [METRICS.webhooksWaiting, ({ waiting }: Backlog) => waiting],
    [METRICS.webhooksParked, ({ parked }: Backlog) => parked],
    [METRICS.webhooksOldest, ({ oldest }: Backlog) => secondsSince(oldest)],
  ] as const;
  for (const [definition, read] of gauges)
    metrics?.gauge(definition, () => {
      const found = backlog();
      return found === null ? undefined : read(found);
    });
}

function secondsSince(time: number | undefined): number {
  return time === undefined ? 0 : Math.max(0, Date.now() - time) / 1_000;
}
