import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { Report } from './report.ts';

/** Least number of documents for which a merge after a filling is worth its time. */
export const MERGED_FROM = 5_000;

/** Merges the segments of filled indices. A failure is only reported: the indices are complete without it, but larger. */
export async function mergeFilled(
  cluster: Pick<ElasticsearchCluster, 'merge'>,
  indices: readonly string[],
  { report, signal }: { readonly report: Report; readonly signal: AbortSignal },
): Promise<void> {
  const started = performance.now();
  try {
    await cluster.merge(indices, signal);
    const seconds = Math.round((performance.now() - started) / 1_000);
    if (!signal.aborted)
      report.info({ indices: indices.length, seconds }, 'the segments of the indices are merged');
  } catch (error) {
    if (!signal.aborted)
      report.warn(
        { reason: (error as Error).message },
        'the segments of the indices are not merged: they need more disk',
      );
  }
}
