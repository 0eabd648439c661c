import { valueAt } from '../../shared/map-values.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A metric as prom-client exports it. The supervisor does not load prom-client, to stay small. */
type Metric = { readonly name: string; readonly type: string; readonly values: readonly Sample[] };

type Sample = {
  /** Differs from the metric's name in a histogram, for example `…_bucket`. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
};

type Total = { -readonly [Key in keyof Sample]: Sample[Key] };

type Totals = { readonly metric: Metric; readonly byLabels: Map<string, Total> };

const COUNTING = new Set(['counter', 'histogram', 'summary']);

/** Returns whether the values of a metric add up over workers, and never fall. */
export function isCount(metric: object): metric is Metric {
  return COUNTING.has((metric as Partial<Metric>).type ?? '');
}

/**
 * Creates the sums of what all workers have counted, including workers that have ended. It adds only the increase since a worker's previous
 * answer. So a sum never falls, in whichever order answers arrive, and ended workers take no memory.
 */
export function createCountsOfWorkers() {
  const totals = new Map<string, Totals>();
  const known = new WeakMap<WorkerProcess, Map<Total, number>>();

  return {
    /** Adds what a worker has counted since its previous answer. */
    add(worker: WorkerProcess, metrics: readonly object[]): void {
      const before = valueAt(known, worker, () => new Map<Total, number>());
      for (const metric of metrics.filter(isCount)) {
        const { byLabels } = valueAt(totals, metric.name, () => ({ metric, byLabels: new Map() }));
        for (const sample of metric.values.filter(isSummable)) {
          const total = valueAt(byLabels, keyOf(sample), () => ({ ...sample, value: 0 }));
          const last = before.get(total) ?? 0;
          if (sample.value <= last) continue;
          total.value += sample.value - last;
          before.set(total, sample.value);
        }
      }
    },
    /** Returns the sums as metrics. */
    metrics: (): readonly object[] =>
      [...totals.values()].map(({ metric, byLabels }) => ({ ...metric, values: [...byLabels.values()] })),
  };
}

/** Returns false for the quantile of a summary. */
function isSummable({ labels }: Sample): boolean {
  return !('quantile' in labels);
}

function keyOf({ metricName, labels }: Sample): string {
  return JSON.stringify([metricName, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
