import { valueWithin } from '../../shared/value-within.ts';
import type { WorkerProcess } from './worker-process.ts';

export type MetricsOfWorkers = ReturnType<typeof createMetricsOfWorkers>;

/** A scrape omits a worker that does not answer in time. */
const ANSWER_MS = 1_500;

/** Collects the metrics of all workers. `workers`: those that answer requests. */
export function createMetricsOfWorkers(workers: () => readonly WorkerProcess[]) {
  const asked = new Map<number, (metrics: readonly object[]) => void>();
  let lastId = 0;

  async function ask(worker: WorkerProcess): Promise<readonly object[]> {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly object[]>();
    asked.set(id, resolve);
    worker.send({ kind: 'measure', id });
    const metrics = await valueWithin(ANSWER_MS, promise);
    asked.delete(id);
    return metrics ?? [];
  }

  return {
    async collect(): Promise<readonly (readonly object[])[]> {
      const all = await Promise.all(workers().map(ask));
      return all.filter((metrics) => metrics.length > 0);
    },
    heard: (id: number, metrics: readonly object[]) => asked.get(id)?.(metrics),
  };
}
