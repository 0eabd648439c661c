import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';

/**
 * Reads the leader's progress in a process that only reads. A position is valid for the indices that are live when it is read. So the live
 * indices are looked up after the position.
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
