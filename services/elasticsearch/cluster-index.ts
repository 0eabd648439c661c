import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';

/** Creates the index that reads the cluster. `apply` writes nothing: the leader writes documents after the graph. */
export function createClusterIndex(
  { reader }: ElasticsearchCluster,
  { apply, position }: Pick<ReadIndex, 'apply' | 'position'>,
): ReadIndex {
  return { ...reader, apply, position, close: async () => {} };
}
