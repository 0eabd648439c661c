import { defined } from '../../../defined.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { Dsl } from '../plan/dsl.ts';
import type { Session } from './session.ts';

/** Maximum of matching rows that are read as hits. For more rows, counting their keys is faster. */
export const FROM_HITS = 256;
/** Maximum buckets of one aggregation. Elasticsearch's default limit is 65,536. */
export const BUCKETS = 60_000;

export type KeysRequest = {
  readonly type: Uid;
  readonly query: Dsl;
  /** Field with the keys: the row's own, or those to which it links. */
  readonly field: string;
  /** Number of keys in one answer of the cluster. */
  readonly atOnce: number;
};

type KeyBuckets = {
  readonly buckets: readonly { readonly key: { readonly key: number } }[];
  readonly after_key?: { readonly key: number };
};

/**
 * Returns the keys in a field of all matching rows, each once and ascending. Calls `refuse` if there are more than a semi-join may have.
 */
export async function readKeys(
  session: Session,
  { type, query, field, atOnce }: KeysRequest,
  refuse: () => never,
): Promise<readonly number[]> {
  const keys: number[] = [];
  let after: KeyBuckets['after_key'];
  do {
    const sources = [{ key: { terms: { field } } }];
    const composite = { size: atOnce, sources, ...defined({ after }) };
    const { aggregations } = await session.search(type, { size: 0, query, aggs: { keys: { composite } } });
    const page = aggregations?.['keys'] as KeyBuckets | undefined;
    const buckets = page?.buckets ?? [];
    for (const { key } of buckets) keys.push(key.key);
    if (keys.length > session.semiJoinLimit) refuse();
    after = buckets.length < atOnce ? undefined : page?.after_key;
  } while (after !== undefined);
  return keys;
}
