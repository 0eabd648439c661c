import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';

/**
 * Progress of the leader, for a process that reads: a position is true for the indices that are live then, so these are
 * looked up after it.
 */
export function progressOfLiveSet(
  { progress, indices }: Pick<ElasticsearchCluster, 'progress' | 'indices'>,
  log: string,
): ProgressStore {
  const { read, write } = progress(log);
  return {
    async read() {
      const found = await read();
      await indices.refresh();
      return found;
    },
    write,
  };
}
