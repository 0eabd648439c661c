import { defined } from '../../../defined.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { Scalar } from '../../bool-query.ts';
import { presentFacet } from '../../facet-values.ts';
import type { FacetCounts, FacetRange, FacetRequest } from '../../facets.ts';
import { readInteger } from '../documents/stored-value.ts';
import { findColumn, type PlacedColumn } from '../layout/find-column.ts';
import type { Dsl } from '../plan/dsl.ts';
import type { SearchAnswer } from '../wire/search-answer.ts';
import { countLinkedValues } from './count-linked-values.ts';
import type { Session } from './session.ts';

/** Counts values over all documents of a type that match. Elasticsearch evaluates the query once for all facets. */
export async function countFacets(
  session: Session,
  type: Uid,
  facets: readonly FacetRequest[],
  query: Dsl,
): Promise<readonly FacetCounts[]> {
  const fields = facets.map((facet) => {
    const found = findColumn(session.layouts(type), facet.path, facet.field);
    return found?.isCopied === true && session.isUncopied(type) ? undefined : found;
  });
  const paged = facets.filter((facet, at) => kindOf(facet, fields[at]) === 'all').length;
  const search = countTogether(session, type, query);
  return Promise.all(
    facets.map((facet, at) => {
      const found = fields[at];
      if (found === undefined) return countLinkedValues(session, type, facet, query);
      const counting = { search, facet, found };
      switch (kindOf(facet, found)) {
        case 'ranges':
          return countRanges(counting, facet.ranges ?? []);
        case 'frequent':
          return countFrequent(counting);
        default:
          return countAll(counting, Math.min(PAGE, Math.floor(MOST_BUCKETS / paged)));
      }
    }),
  );
}

function kindOf(
  { ranges, search }: FacetRequest,
  found: PlacedColumn | undefined,
): 'ranges' | 'frequent' | 'all' | 'linked' {
  if (found === undefined) return 'linked';
  if (ranges !== undefined) return 'ranges';
  return found.scalar.fieldType === 'keyword' && search === undefined ? 'frequent' : 'all';
}

type Aggregate = (aggregation: object) => Promise<unknown>;

/** Returns a function that joins the aggregations requested in one turn into one search. */
function countTogether(session: Session, type: Uid, query: Dsl): Aggregate {
  let waiting: Record<string, object> = {};
  let answer: Promise<SearchAnswer> | undefined;
  return async (aggregation) => {
    const name = `a${Object.keys(waiting).length}`;
    waiting[name] = aggregation;
    answer ??= Promise.resolve().then(() => {
      const aggs = waiting;
      waiting = {};
      answer = undefined;
      return session.search(type, { size: 0, query, aggs });
    });
    const { aggregations = {} } = await answer;
    return aggregations[name];
  };
}

type Counting = {
  readonly search: Aggregate;
  readonly facet: FacetRequest;
  readonly found: PlacedColumn;
};

/** A bucket. `rows` has the documents if the values are in a list. */
type Bucket = {
  readonly key?: unknown;
  readonly doc_count: number;
  readonly rows?: { readonly doc_count: number };
};
type Buckets = { readonly buckets: readonly Bucket[]; readonly after_key?: object };

const ROWS = { aggs: { rows: { reverse_nested: {} } } };

async function bucketsOf({ search, found: { list } }: Counting, aggregation: object): Promise<Buckets> {
  if (list === undefined) return (await search(aggregation)) as Buckets;
  const values = { ...aggregation, ...ROWS };
  const inside = (await search({ nested: { path: list }, aggs: { values } })) as { readonly values: Buckets };
  return inside.values;
}

function rowsIn({ rows, doc_count }: Bucket): number {
  return rows?.doc_count ?? doc_count;
}

/** Minimum number of values that each shard counts, so that the most frequent values of all shards are among them. */
const SHARD_VALUES = 10_000;

/** Counts the first texts in the order of the request. Elasticsearch sorts texts by code points, as Varve does. */
async function countFrequent(counting: Counting): Promise<FacetCounts> {
  const { facet, found } = counting;
  const { field, list } = found;
  const { limit, byName } = facet;
  const byText = { _key: 'asc' };
  const order = byName === true ? [byText] : [{ [list === undefined ? '_count' : 'rows']: 'desc' }, byText];
  const { buckets } = await bucketsOf(counting, {
    terms: { field, size: limit, shard_size: Math.max(limit, SHARD_VALUES), order },
  });
  return presentFacet(facet, countsOf(found, buckets));
}

/** Maximum values that one request reads, of one facet and of all. Elasticsearch's default limit is 65,536. */
const PAGE = 10_000;
const MOST_BUCKETS = 40_000;

/** Counts every value. */
async function countAll(counting: Counting, size: number): Promise<FacetCounts> {
  const { facet, found } = counting;
  const sources = [{ value: { terms: { field: found.field } } }];
  const counts = new Map<Scalar, number>();
  let after: object | undefined;
  do {
    const page = await bucketsOf(counting, { composite: { size, sources, ...defined({ after }) } });
    for (const [value, count] of countsOf(found, page.buckets)) counts.set(value, count);
    after = page.buckets.length < size ? undefined : page.after_key;
  } while (after !== undefined);
  return presentFacet(facet, counts);
}

function countsOf({ scalar }: PlacedColumn, buckets: readonly Bucket[]): ReadonlyMap<Scalar, number> {
  return new Map(
    buckets.map((bucket) => {
      // A composite aggregation names the value of each source.
      const key = bucket.key as Scalar | { readonly value: Scalar };
      const value = typeof key === 'object' ? key.value : key;
      return [scalar.fieldType === 'long' ? readInteger(String(value)) : value, rowsIn(bucket)] as const;
    }),
  );
}

async function countRanges(counting: Counting, ranges: readonly FacetRange[]): Promise<FacetCounts> {
  const { field } = counting.found;
  const { buckets } = await bucketsOf(counting, {
    filters: { filters: ranges.map((range) => rangeQuery(field, range)) },
  });
  const values = ranges.map(({ name }, at) => ({ value: name, count: rowsIn(buckets[at] ?? NO_ROWS) }));
  return { values };
}

const NO_ROWS: Bucket = { doc_count: 0 };

function rangeQuery(field: string, { from, to }: FacetRange): Dsl {
  // JSON has no infinity, so an infinite bound is omitted.
  if (from === Number.POSITIVE_INFINITY || to === Number.NEGATIVE_INFINITY) return { match_none: {} };
  const bounds = {
    gte: from === Number.NEGATIVE_INFINITY ? undefined : from,
    lt: to === Number.POSITIVE_INFINITY ? undefined : to,
  };
  if (bounds.gte === undefined && bounds.lt === undefined) return { exists: { field } };
  return { range: { [field]: defined(bounds) } };
}
