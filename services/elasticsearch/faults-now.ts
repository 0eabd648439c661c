import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { IndexFault } from '../../shared/read-index/index-fault.ts';
import { valueWithin } from '../../shared/value-within.ts';

const ANSWERED_WITHIN_MS = 1_000;

/** Returns the faults that this process knows. A process that does not write reads them first, unless it did so a moment ago. */
export async function faultsNow({
  indices,
  watched,
}: Pick<ElasticsearchCluster, 'indices' | 'watched'>): Promise<readonly IndexFault[]> {
  // While the cluster does not answer, the faults that were read last are the best answer.
  await valueWithin(ANSWERED_WITHIN_MS, Promise.resolve(indices.get())).catch(() => {});
  return watched.faults.all();
}
