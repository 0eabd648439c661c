import { RequestError } from '../../../request-error.ts';
import { TURNS } from '../../../turns/turns.ts';
import type { SearchResult } from '../../read-index.ts';
import { createRowGroups, type GroupRequest } from '../../row-groups.ts';
import { type SortClause, sortDsl } from '../plan/plan-sort.ts';
import type { SearchHit } from '../wire/search-answer.ts';
import { type PageSearch, readHits } from './page-search.ts';
import { locate, readRows, rowFields } from './read-rows.ts';
import { columnValues } from './traverse-step.ts';

/** Maximum rows that are grouped. */
const MOST_GROUPED = 10_000;

/** The first hits of a search: how many, and which fields they have. */
export type FirstHits = { readonly size: number; readonly docvalue_fields: readonly string[] };

/** First hits in their order, and the number of all hits. */
export type CountedHits = { readonly total: number; readonly hits: readonly SearchHit[] };

type Value = string | null;

/** Groups all hits of a search. `read` returns the first ones in their order. Rejects with a 400 if there are more. */
export async function groupHits(
  search: PageSearch,
  groups: GroupRequest,
  read: (first: FirstHits) => Promise<CountedHits>,
): Promise<SearchResult> {
  const { session, request } = search;
  const { place } = locate(session.layouts(request.type), []);
  const scalar = place.scalars.get(groups.field);
  if (scalar === undefined) throw new Error(`${request.type} has no field ${groups.field} in the read index`);
  const name = `${place.prefix}f.${scalar.field}`;
  const { total, hits } = await read({ size: MOST_GROUPED, docvalue_fields: ['key', name] });
  refuseMany(total, groups);
  const values = new Map(
    hits.map(({ fields }) => [fields?.['key']?.[0] as number, (fields?.[name]?.[0] ?? null) as Value]),
  );
  return pageOfGroups(search, groups, values);
}

/** Groups the rows with these keys, which are in their order. Rejects with a 400 if they are too many. */
export async function groupKeys(
  search: PageSearch,
  groups: GroupRequest,
  keys: readonly number[],
): Promise<SearchResult> {
  refuseMany(keys.length, groups);
  const rowSet = { type: search.request.type, path: [] };
  const values = await columnValues(search.session, rowSet, keys, groups.field);
  return pageOfGroups(search, groups, new Map(keys.map((key) => [key, (values.get(key) ?? null) as Value])));
}

/** Reads the first hits in an order of the documents. */
export async function readAll(
  { session, request, query }: PageSearch,
  clauses: readonly SortClause[],
  first: FirstHits,
): Promise<CountedHits> {
  const body = { ...first, query, sort: sortDsl(clauses), track_total_hits: true };
  const { hits } = await session.search(request.type, body);
  return { total: hits.total?.value ?? 0, hits: hits.hits };
}

/** Returns the page of groups. `values`: the value of each row by its key, in the order of the rows. */
async function pageOfGroups(
  search: PageSearch,
  { limit }: GroupRequest,
  values: ReadonlyMap<number, Value>,
): Promise<SearchResult> {
  const { session, request, details } = search;
  const { type, from, size, withTotal } = request;
  const begin = () =>
    createRowGroups([...values.keys()], (key) => values.get(key) ?? null, { from, size, limit });
  const { total, rows: keys, groups } = await TURNS.finish(TURNS.task(Number.POSITIVE_INFINITY), begin);
  const rows = await readRows(session, { type, path: [] }, keys, { fields: rowFields(details) });
  const read = new Map(rows.map((row) => [row.key, row]));
  const found = keys.flatMap((key) => read.get(key) ?? []);
  return { total: withTotal ? total : undefined, hits: readHits(search, found), groups };
}

function refuseMany(total: number, { field }: GroupRequest): void {
  if (total <= MOST_GROUPED) return;
  throw new RequestError('query-too-large', `Invalid distinct: ${total} entries to group`, {
    param: 'distinct',
    source: 'query',
    path: field,
    found: `${total} matching entries`,
    accepted: `at most ${MOST_GROUPED}; filter or search for fewer`,
  });
}
