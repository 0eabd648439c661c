import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';

/** The cluster's documents as an index. `apply` does not write them: the leader does, after the graph. */
export function createClusterIndex(
  { reader }: ElasticsearchCluster,
  { apply, position }: Pick<ReadIndex, 'apply' | 'position'>,
): ReadIndex {
  return { ...reader, apply, position, close: async () => {} };
}
