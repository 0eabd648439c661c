import { setTimeout as delay } from 'node:timers/promises';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { persistently } from './persistently.ts';
import type { Report } from './report.ts';

export type UntilWholeOptions = {
  readonly cluster: ElasticsearchCluster;
  /** Names the log. */
  readonly log: string;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** Called once when the leader is still making the indices. */
  readonly waiting?: () => void;
};

const WHOLE_EVERY = 500;

/**
 * Resolves when the cluster answers and the leader has made the indices, or `signal` is aborted. Rejects with a sentence when the
 * cluster refuses for good.
 */
export async function untilWhole({
  cluster,
  log,
  report,
  signal,
  waiting,
}: UntilWholeOptions): Promise<void> {
  await persistently(report, signal, cluster.ready);
  for (let isTold = false; !signal.aborted; isTold = true) {
    if (await persistently(report, signal, () => cluster.isWhole(log))) return;
    if (!isTold) waiting?.();
    await delay(WHOLE_EVERY, undefined, { signal }).catch(() => {});
  }
}
