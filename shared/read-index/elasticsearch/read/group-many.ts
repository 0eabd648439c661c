import { defined } from '../../../defined.ts';
import { RequestError } from '../../../request-error.ts';
import { type RowGroup, shownValue } from '../../row-groups.ts';
import { type Dsl, termsDsl } from '../plan/dsl.ts';
import { bucketsIn, type SearchHit } from '../wire/search-answer.ts';
import type { PageSearch } from './page-search.ts';

/** The first hits of a search: how many, and which fields they have. */
export type FirstHits = { readonly size: number; readonly docvalue_fields: readonly string[] };

/** Reads hits in their order. */
export type HitReader = {
  /** Reads all hits of the search, which are `size`. */
  readonly all: (first: FirstHits) => Promise<readonly SearchHit[]>;
  /** Reads the first hits of the search with another query. */
  readonly first: (within: PageSearch, first: FirstHits) => Promise<readonly SearchHit[]>;
};

/** A request for groups. `field`: name of the values in the documents. `limit`: maximum rows of a group in the result. */
export type Grouping = { readonly field: string; readonly limit: number; readonly read: HitReader };

/** A page of groups, with the keys of its rows. `total`: number of groups on all pages, if it is asked for. */
export type ManyGroups = {
  readonly total: number | undefined;
  readonly keys: readonly number[];
  readonly groups: readonly RowGroup[];
};

/** A row without a value is a group of its own. */
type Group = { readonly value: string | null; readonly keys: readonly number[] };
type GrowingGroup = Group & { readonly keys: number[] };

/** Hits that a round reads for each group of the page. */
const HITS_PER_GROUP = 5;
const LEAST_HITS = 1_000;
/** Groups up to the end of the page. Each round names those that it has seen. */
const MOST_BEFORE = 10_000;
/** Maximum rounds, each of which is a request. A round finds at least one group, and usually all. */
const MOST_ROUNDS = 100;
/** Requests that count all groups, each as many as `groupLimit`. */
const MOST_COUNTS = 20;

/**
 * Groups the hits of a search that has too many to read them all. It reads the first hits, then the first of those in groups that it has not
 * seen, and so on until the page is full. Elasticsearch counts the groups, and the rows of those on the page. Rejects with a 400 for a page
 * too far behind, or too many groups.
 */
export async function groupMany(search: PageSearch, grouping: Grouping): Promise<ManyGroups> {
  const { from, size, withTotal } = search.request;
  if (from + size > MOST_BEFORE) refuse(`an offset of ${from} groups`, `up to ${MOST_BEFORE} groups`);
  const [total, first] = await Promise.all([
    withTotal ? countGroups(search, grouping.field) : undefined,
    size === 0 ? [] : firstGroups(search, grouping, from + size),
  ]);
  const shown = first.slice(from);
  const counts = await countRows(search, grouping.field, shown);
  const countOf = ({ value, keys }: Group) => (value === null ? 1 : (counts.get(value) ?? keys.length));
  const whole = await Promise.all(shown.map((group) => withAllKeys(search, grouping, group, countOf(group))));
  return {
    total,
    keys: whole.flatMap(({ keys }) => keys),
    groups: whole.map((group) => ({
      value: shownValue(group.value),
      count: countOf(group),
      hits: group.keys.length,
    })),
  };
}

/** Returns the first groups, at most `most`, in the order of their first rows, with the rows that were read of each. */
async function firstGroups(
  search: PageSearch,
  { field, limit, read }: Grouping,
  most: number,
): Promise<readonly Group[]> {
  const groups: GrowingGroup[] = [];
  const byValue = new Map<string, GrowingGroup>();
  const { groupLimit } = search.session;
  const size = Math.min(groupLimit, Math.max(LEAST_HITS, most * HITS_PER_GROUP));
  const take = ({ fields }: SearchHit) => {
    const key = keyIn(fields);
    const value = (fields?.[field]?.[0] ?? null) as string | null;
    const known = value === null ? undefined : byValue.get(value);
    if (known !== undefined) {
      if (known.keys.length < limit) known.keys.push(key);
    } else if (groups.length < most) {
      const group = { value, keys: [key] };
      groups.push(group);
      if (value !== null) byValue.set(value, group);
    }
  };
  for (let round = 0; groups.length < most; round++) {
    if (round === MOST_ROUNDS) refuse('large groups before the page', 'a page nearer to the first one');
    const within = { ...search, query: without(search.query, field, groups) };
    const hits = await read.first(within, { size, docvalue_fields: ['key', field] });
    for (const hit of hits) take(hit);
    if (hits.length < size) break;
  }
  return groups;
}

/** Matches the rows that are in none of these groups. */
function without(query: Dsl, field: string, groups: readonly Group[]): Dsl {
  const values = groups.flatMap(({ value }) => value ?? []);
  const alone = groups.flatMap(({ value, keys }) => (value === null ? keys : []));
  return { bool: { must: [query], must_not: [termsDsl(field, values), termsDsl('key', alone)] } };
}

/** Adds the keys of rows that the rounds did not read, because other groups came first. */
async function withAllKeys(
  search: PageSearch,
  { field, limit, read }: Grouping,
  group: Group,
  count: number,
): Promise<Group> {
  const { value, keys } = group;
  if (value === null || keys.length >= Math.min(limit, count)) return group;
  const query: Dsl = { bool: { must: [search.query], filter: [termsDsl(field, [value])] } };
  const hits = await read.first({ ...search, query }, { size: limit, docvalue_fields: ['key'] });
  return { value, keys: hits.map(({ fields }) => keyIn(fields)) };
}

function keyIn(fields: SearchHit['fields']): number {
  return fields?.['key']?.[0] as number;
}

/** Counts the rows of these groups that the search finds, by value. */
async function countRows(
  { session, request, query }: PageSearch,
  field: string,
  groups: readonly Group[],
): Promise<ReadonlyMap<string, number>> {
  const values = groups.flatMap(({ value }) => value ?? []);
  if (values.length === 0) return new Map();
  const answer = await session.search(request.type, {
    size: 0,
    query: { bool: { must: [query], filter: [termsDsl(field, values)] } },
    aggs: { values: { terms: { field, size: values.length, include: values } } },
  });
  const buckets = bucketsIn<{ readonly key: string; readonly doc_count: number }>(answer, 'values');
  return new Map(buckets.map(({ key, doc_count }) => [key, doc_count]));
}

/** Counts the groups of all hits. */
async function countGroups({ session, request, query }: PageSearch, field: string): Promise<number> {
  const { groupLimit } = session;
  const most = groupLimit * MOST_COUNTS;
  const sources = [{ value: { terms: { field } } }];
  const none = { missing: { field } };
  let total = 0;
  let after: object | undefined;
  do {
    const composite = { size: groupLimit, sources, ...defined({ after }) };
    const aggs = { values: { composite }, ...(after === undefined && { none }) };
    const answer = await session.search(request.type, { size: 0, query, aggs });
    const { values, none: alone } = (answer.aggregations ?? {}) as Counted;
    total += (values?.buckets.length ?? 0) + (alone?.doc_count ?? 0);
    if (total > most) refuse(`more than ${most} groups`, `at most ${most}`);
    after = values?.buckets.length === groupLimit ? values.after_key : undefined;
  } while (after !== undefined);
  return total;
}

type Counted = {
  readonly values?: { readonly buckets: readonly unknown[]; readonly after_key?: object };
  readonly none?: { readonly doc_count: number };
};

function refuse(found: string, accepted: string): never {
  throw new RequestError('query-too-large', `Invalid distinct: ${found}`, {
    param: 'distinct',
    source: 'query',
    found,
    accepted: `${accepted}; filter or search for fewer entries`,
  });
}
