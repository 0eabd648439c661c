import type { CurrentSet } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';

/**
 * Reads the leader's progress in a process that only reads. A position is valid for the indices that are live when it is read. So the live
 * indices are looked up after the position.
 */
export function progressOfLiveSet(
  { read, write }: ProgressStore,
  indices: Pick<CurrentSet, 'refresh'>,
): ProgressStore {
  return {
    async read() {
      const found = await read();
      await indices.refresh();
      return found;
    },
    write,
  };
}
