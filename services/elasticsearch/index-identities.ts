import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { recordOf } from '../../shared/read-index/elasticsearch/indices/index-record.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

type Watched = Pick<ElasticsearchCluster['watched'], 'observer' | 'record' | 'aliases'>;

/** Records the identities of the indices of a set, which was written from a log. */
export async function recordSet({ observer, record }: Watched, log: string, set: IndexSet): Promise<void> {
  await record(log).write(recordOf(set, await observer.contents()));
}

/**
 * Returns the types whose live indices are not those that were written from a log: somebody has restored or replaced them, or has moved
 * the aliases. An index that does not answer, or that was never recorded, is trusted.
 */
export async function findReplaced(
  { observer, record, aliases }: Watched,
  log: string,
  live: IndexSet,
): Promise<readonly Uid[]> {
  const [recorded, contents] = await Promise.all([record(log).read(), observer.contents()]);
  if (recorded === undefined) return [];
  const found = recordOf(live, contents);
  const replaced = Object.entries(found).flatMap(([alias, identity]) => {
    const known = recorded[alias];
    const isSame =
      known === undefined ||
      (known?.index === identity?.index &&
        known?.uuid === identity?.uuid &&
        known?.histories === identity?.histories);
    return isSame ? [] : (aliases.get(alias) ?? []);
  });
  return [...new Set(replaced)];
}
