import { TURNS } from '../../../turns/turns.ts';
import type { Hits, SearchResult } from '../../read-index.ts';
import { createRowGroups, type GroupRequest } from '../../row-groups.ts';
import { type SortClause, sortDsl } from '../plan/plan-sort.ts';
import { bucketsIn, type SearchHit } from '../wire/search-answer.ts';
import { type FirstHits, groupMany, type HitReader } from './group-many.ts';
import { type PageSearch, readHits } from './page-search.ts';
import { locate, readRows, rowFields } from './read-rows.ts';
import { columnValues } from './traverse-step.ts';

type Value = string | null;

/** Groups all hits of a search. Rejects with a 400 if it has too many groups. */
export async function groupHits(
  search: PageSearch,
  groups: GroupRequest,
  read: HitReader,
): Promise<SearchResult> {
  const { session, request } = search;
  const { place } = locate(session.layouts(request.type), []);
  const scalar = place.scalars.get(groups.field);
  if (scalar === undefined) throw new Error(`${request.type} has no field ${groups.field} in the read index`);
  const field = `${place.prefix}f.${scalar.field}`;
  // Counting first costs a request, and reading too many entries costs more.
  const { total, values: count } = await countGroups(search, field);
  if (total > session.groupLimit) {
    const many = await groupMany(search, { field, limit: groups.limit, read });
    return pageWith(search, many.keys, { total: many.total, groups: many.groups });
  }
  if (request.size === 0) return { total: request.withTotal ? count : undefined, hits: NO_HITS, groups: [] };
  const hits = await read.all({ size: total, docvalue_fields: ['key', field] });
  const values = new Map(
    hits.map(({ fields }) => [fields?.['key']?.[0] as number, (fields?.[field]?.[0] ?? null) as Value]),
  );
  return pageOfGroups(search, groups, values);
}

const NO_HITS: Hits = { rows: [], sources: [] };

/** Counts the hits of a search, and if it shows none, the groups that they form. They are exact if there are at most `groupLimit` hits. */
async function countGroups(
  { session, request, query }: PageSearch,
  field: string,
): Promise<{ readonly total: number; readonly values: number }> {
  const aggs = { values: { terms: { field, size: session.groupLimit } }, none: { missing: { field } } };
  const isCounted = request.size === 0 && request.withTotal;
  const body = { size: 0, query, track_total_hits: true, ...(isCounted ? { aggs } : {}) };
  const answer = await session.search(request.type, body);
  const none = answer.aggregations?.['none'] as { readonly doc_count: number } | undefined;
  const values = bucketsIn(answer, 'values').length + (none?.doc_count ?? 0);
  return { total: answer.hits.total?.value ?? 0, values };
}

/** Groups the rows with these keys, which are in their order. */
export async function groupKeys(
  search: PageSearch,
  groups: GroupRequest,
  keys: readonly number[],
): Promise<SearchResult> {
  const rowSet = { type: search.request.type, path: [] };
  const values = await columnValues(search.session, rowSet, keys, groups.field);
  return pageOfGroups(search, groups, new Map(keys.map((key) => [key, (values.get(key) ?? null) as Value])));
}

/** Reads the first hits in an order of the documents. */
export async function readFirst(
  { session, request, query }: PageSearch,
  clauses: readonly SortClause[],
  first: FirstHits,
): Promise<readonly SearchHit[]> {
  const { hits } = await session.search(request.type, { ...first, query, sort: sortDsl(clauses) });
  return hits.hits;
}

/** Returns the page of groups. `values`: the value of each row by its key, in the order of the rows. */
async function pageOfGroups(
  search: PageSearch,
  { limit }: GroupRequest,
  values: ReadonlyMap<number, Value>,
): Promise<SearchResult> {
  const { from, size, withTotal } = search.request;
  const begin = () =>
    createRowGroups([...values.keys()], (key) => values.get(key) ?? null, { from, size, limit });
  const { total, rows: keys, groups } = await TURNS.finish(TURNS.task(Number.POSITIVE_INFINITY), begin);
  return pageWith(search, keys, { total: withTotal ? total : undefined, groups });
}

/** Reads the rows of a page of groups. */
async function pageWith(
  search: PageSearch,
  keys: readonly number[],
  page: Pick<SearchResult, 'total' | 'groups'>,
): Promise<SearchResult> {
  const { session, request, details } = search;
  const rowSet = { type: request.type, path: [] };
  const rows = await readRows(session, rowSet, keys, { fields: rowFields(details) });
  const read = new Map(rows.map((row) => [row.key, row]));
  const found = keys.flatMap((key) => read.get(key) ?? []);
  return { ...page, hits: readHits(search, found) };
}
