import { defined } from '../../../defined.ts';
import { RequestError } from '../../../request-error.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { Scalar } from '../../bool-query.ts';
import { isInRange, presentFacet } from '../../facet-values.ts';
import type { FacetCounts, FacetRequest } from '../../facets.ts';
import type { Dsl } from '../plan/dsl.ts';
import type { Session } from './session.ts';
import { valuesAlong } from './sort-in-process.ts';

/** Rows whose values are read at a time. */
const ROWS_AT_ONCE = 5_000;

/** Counts a facet beyond what the documents copy: reads the values of all matching rows along its path. */
export async function countLinkedValues(
  session: Session,
  type: Uid,
  facet: FacetRequest,
  query: Dsl,
): Promise<FacetCounts> {
  const counts = new Map<Scalar, number>();
  const inRanges = facet.ranges?.map(() => 0);
  for await (const keys of matchingKeys(session, type, facet, query)) {
    const values = await valuesAlong(session, { type, path: [] }, keys, facet);
    for (const found of values.values()) {
      const distinct = new Set(found.flatMap((value) => value ?? []));
      for (const value of distinct) counts.set(value, (counts.get(value) ?? 0) + 1);
      for (const [at, range] of (facet.ranges ?? []).entries()) {
        if (inRanges !== undefined && [...distinct].some((value) => isInRange(range, Number(value))))
          inRanges[at] = (inRanges[at] ?? 0) + 1;
      }
    }
  }
  if (facet.ranges === undefined) return presentFacet(facet, counts);
  return { values: facet.ranges.map(({ name }, at) => ({ value: name, count: inRanges?.[at] ?? 0 })) };
}

type KeyBuckets = {
  readonly buckets: readonly { readonly key: { readonly key: number } }[];
  readonly after_key?: { readonly key: number };
};

async function* matchingKeys(
  session: Session,
  type: Uid,
  facet: FacetRequest,
  query: Dsl,
): AsyncIterable<readonly number[]> {
  let after: KeyBuckets['after_key'];
  let read = 0;
  do {
    const sources = [{ key: { terms: { field: 'key' } } }];
    const composite = { size: ROWS_AT_ONCE, sources, ...defined({ after }) };
    const { aggregations } = await session.search(type, { size: 0, query, aggs: { keys: { composite } } });
    const page = aggregations?.['keys'] as KeyBuckets | undefined;
    const keys = (page?.buckets ?? []).map(({ key }) => key.key);
    read += keys.length;
    if (read > session.semiJoinLimit) refuseTooMany(session.semiJoinLimit, facet);
    if (keys.length > 0) yield keys;
    after = keys.length < ROWS_AT_ONCE ? undefined : page?.after_key;
  } while (after !== undefined);
}

function refuseTooMany(limit: number, { path, field }: FacetRequest): never {
  const way = path.join('.');
  throw new RequestError('query-too-large', `Invalid facets: more than ${limit} entries match`, {
    param: 'facets',
    source: 'query',
    path: [...path, field].join('.'),
    found: `more than ${limit} entries`,
    accepted: `a narrower filter, or ${way} copied into the documents (pluginOptions.varve.denormalise.paths)`,
  });
}
