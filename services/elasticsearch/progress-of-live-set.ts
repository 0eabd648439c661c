import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';

/**
 * The progress that the leader announces, for a process that reads: what it says of a position is true of the indices that are
 * live by then, so these are asked for behind it.
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
