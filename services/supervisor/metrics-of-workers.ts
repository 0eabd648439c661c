import { valueWithin } from '../../shared/value-within.ts';
import { createCountsOfWorkers, isCount } from './counts-of-workers.ts';
import type { WorkerProcess } from './worker-process.ts';

export type MetricsOfWorkers = ReturnType<typeof createMetricsOfWorkers>;

/** A scrape omits the gauges of a worker that does not answer in time. */
const ANSWER_MS = 1_500;

/**
 * Collects the metrics of all workers. `workers`: those that answer requests. Counts include the last known ones of workers that have ended
 * or do not answer in time: Prometheus would read a sum that falls as a restart from 0, and show requests that nobody sent.
 */
export function createMetricsOfWorkers(workers: () => readonly WorkerProcess[]) {
  const asked = new Map<number, (gauges: readonly object[]) => void>();
  const counts = createCountsOfWorkers();
  let lastId = 0;

  async function askGauges(worker: WorkerProcess): Promise<readonly object[]> {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly object[]>();
    asked.set(id, resolve);
    worker.send({ kind: 'measure', id });
    const gauges = await valueWithin(ANSWER_MS, promise);
    asked.delete(id);
    return gauges ?? [];
  }

  return {
    async collect(): Promise<readonly (readonly object[])[]> {
      const gauges = await Promise.all(workers().map(askGauges));
      return [...gauges, counts.metrics()].filter((metrics) => metrics.length > 0);
    },
    heard(worker: WorkerProcess, id: number, metrics: readonly object[]): void {
      counts.add(worker, metrics);
      asked.get(id)?.(metrics.filter((metric) => !isCount(metric)));
    },
  };
}
