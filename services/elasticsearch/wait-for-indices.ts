import { setTimeout as delay } from 'node:timers/promises';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { HistoryProgress } from './progress-in-history.ts';
import type { Report } from './report.ts';
import { retryOutages } from './retry-outages.ts';

export type WaitForIndicesOptions = {
  readonly cluster: ElasticsearchCluster;
  /** Identity of the log. */
  readonly log: string;
  readonly progress: Pick<HistoryProgress, 'isOther'>;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** Called once if the leader is still making the indices. */
  readonly waiting?: () => void;
};

const WHOLE_EVERY = 500;

/**
 * Resolves when the cluster answers and the leader has made the indices from the log's history, or when `signal` is aborted. Rejects with a
 * sentence if the cluster refuses for good.
 */
export async function waitForIndices(options: WaitForIndicesOptions): Promise<void> {
  const { cluster, log, progress, report, signal } = options;
  // The leader forgets the progress of another history when searches find the indices that it has made for this one.
  const isWhole = async () => !(await progress.isOther()) && (await cluster.isWhole(log));
  await retryOutages(report, signal, cluster.ready);
  for (let isTold = false; !signal.aborted; isTold = true) {
    if (await retryOutages(report, signal, isWhole)) {
      await retryOutages(report, signal, cluster.indices.refresh);
      return;
    }
    if (!isTold) options.waiting?.();
    await delay(WHOLE_EVERY, undefined, { signal }).catch(() => {});
  }
}
