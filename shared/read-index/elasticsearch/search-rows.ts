import { RequestError } from '../../request-error.ts';
import type { Hits, SearchRequest, SearchResult, SortPosition } from '../read-index.ts';
import type { Dsl } from './dsl.ts';
import { OFFSET_LIMIT, PAGE_OF_KEYS, WINDOW } from './index-definition.ts';
import { planQuery } from './plan-query.ts';
import { planSort, readPosition, type SortClause, sortDsl, writePosition } from './plan-sort.ts';
import { NO_SOURCE, readRows, rememberRow } from './read-rows.ts';
import type { SearchAnswer, SearchHit } from './search-answer.ts';
import type { SearchBody } from './search-engine.ts';
import { resolveQuery } from './semi-join.ts';
import type { Session } from './session.ts';
import { isBehind, type PlacedRow, sortInProcess } from './sort-in-process.ts';

/** From this offset on the matches are counted first: the far half is nearer from the other end. */
const COUNT_FROM = 2000;

/** One page of a search. */
export async function searchRows(session: Session, request: SearchRequest): Promise<SearchResult> {
  const { type, from, size, withTotal, cursor, followed = false } = request;
  const query = await resolveQuery(session, planQuery(session.layouts, type, request.query));
  const clauses = planSort(session.layouts(type), request.sort);
  const search: PageSearch = { session, request, query, details: followed };
  if (clauses === null) return sortedInProcess(search);
  if (cursor !== undefined) return pageBehind(search, clauses, cursor.after);
  if (from >= COUNT_FROM || from + size > WINDOW) return farPage(search, clauses);
  const { hits } = await readPage(search, {
    from,
    size,
    sort: sortDsl(clauses),
    track_total_hits: withTotal,
  });
  return { total: totalOf(search, hits), hits: readHits(search, hits.hits) };
}

function totalOf({ request }: PageSearch, { total }: SearchAnswer['hits']): number | undefined {
  return request.withTotal ? (total?.value ?? 0) : undefined;
}

async function pageBehind(
  search: PageSearch,
  clauses: readonly SortClause[],
  after: SortPosition | null,
): Promise<SearchResult> {
  const { size, withTotal } = search.request;
  // One row more tells whether anything follows.
  const page: Omit<SearchBody, 'query'> = {
    size: size + 1,
    sort: sortDsl(clauses),
    track_total_hits: withTotal,
    ...(after === null ? {} : { search_after: writePosition(clauses, after) }),
  };
  const { hits } = await readPage(search, page);
  const last = hits.hits.length > size ? hits.hits[size - 1] : undefined;
  const next = last === undefined ? null : readPosition(clauses, last.sort ?? []);
  return { total: totalOf(search, hits), hits: readHits(search, hits.hits.slice(0, size)), next };
}

type PageSearch = {
  readonly session: Session;
  readonly request: SearchRequest;
  readonly query: Dsl;
  /** What `follow` needs of the rows is read with them. */
  readonly details: boolean;
};

function readPage({ session, request, query, details }: PageSearch, page: Omit<SearchBody, 'query'>) {
  const docvalue_fields = details ? ['key', 'src', 'links', 'parts'] : ['key', 'src'];
  return session.search(request.type, { ...page, query, docvalue_fields });
}

function readHits({ session, request, details }: PageSearch, hits: readonly SearchHit[]): Hits {
  const space = { type: request.type, path: [] };
  const rows: number[] = [];
  const sources: Uint8Array[] = [];
  for (const { fields = {}, source = NO_SOURCE } of hits) {
    const key = fields['key']?.[0] as number;
    rows.push(key);
    sources.push(source);
    if (details) rememberRow(session, space, key, fields);
  }
  return { rows, sources };
}

async function countMatches({ session, request, query }: PageSearch): Promise<number> {
  const { hits } = await session.search(request.type, {
    size: 0,
    query,
    track_total_hits: true,
  });
  return hits.total?.value ?? 0;
}

async function farPage(search: PageSearch, clauses: readonly SortClause[]): Promise<SearchResult> {
  const { from, size, withTotal } = search.request;
  const total = await countMatches(search);
  const known = withTotal ? total : undefined;
  const length = Math.min(size, total - from);
  if (length <= 0) return { total: known, hits: { rows: [], sources: [] } };
  if (from > OFFSET_LIMIT) refuseOffset(from);
  if (length > WINDOW - from) refuseSize(total);
  if (from <= total / 2) {
    const { hits } = await readPage(search, { from, size: length, sort: sortDsl(clauses) });
    return { total: known, hits: readHits(search, hits.hits) };
  }
  const { hits } = await readPage(search, {
    from: total - from - length,
    size: length,
    sort: sortDsl(clauses, true),
  });
  return { total: known, hits: readHits(search, [...hits.hits].reverse()) };
}

function refuseOffset(from: number): never {
  throw new RequestError(400, 'PaginationError', `Invalid pagination: an offset of ${from}`, {
    param: 'pagination',
    source: 'query',
    found: from,
    accepted: `offsets up to ${OFFSET_LIMIT}; beyond, go from page to page with pagination[cursor]`,
  });
}

function refuseSize(total: number): never {
  throw new RequestError(400, 'PaginationError', `Invalid pagination: all of ${total} entries at once`, {
    param: 'pagination',
    source: 'query',
    found: `${total} entries`,
    accepted: `at most ${WINDOW} in one answer; go from page to page with pagination[cursor]`,
  });
}

/** A sort through relations that are not in the documents: all matching rows are put in order here, up to a limit. */
async function sortedInProcess(search: PageSearch): Promise<SearchResult> {
  const { session, request, query, details } = search;
  const { type, withTotal } = request;
  const most = Math.min(session.sortLimit, PAGE_OF_KEYS);
  const { hits } = await session.search(type, {
    size: most,
    query,
    track_total_hits: true,
    docvalue_fields: ['key'],
  });
  const total = hits.total?.value ?? 0;
  if (total > most) refuseSort(total, most, request);
  const keys = hits.hits.map(({ fields }) => fields?.['key']?.[0] as number);
  const space = { type, path: [] };
  const sorted = await sortInProcess(session, space, keys, request.sort);
  const { rows, next } = pageOf(sorted, request);
  const fields = details ? ['src', 'links', 'parts'] : ['src'];
  const pageKeys = rows.map(({ key }) => key);
  const read = new Map((await readRows(session, space, pageKeys, fields)).map((row) => [row.key, row]));
  const found = readHits(
    search,
    pageKeys.flatMap((key) => read.get(key) ?? []),
  );
  const result = { total: withTotal ? total : undefined, hits: found };
  return next === undefined ? result : { ...result, next };
}

function pageOf(
  sorted: readonly PlacedRow[],
  { from, size, cursor, sort }: SearchRequest,
): { readonly rows: readonly PlacedRow[]; readonly next?: SortPosition | null } {
  if (cursor === undefined) return { rows: sorted.slice(from, from + size) };
  const { after } = cursor;
  const behind = after === null ? sorted : sorted.filter((row) => isBehind(sort, row, after));
  const last = behind.length > size ? behind[size - 1] : undefined;
  return { rows: behind.slice(0, size), next: last === undefined ? null : last.position };
}

function refuseSort(total: number, most: number, { sort }: SearchRequest): never {
  const path = sort.map((key) => [...key.path, key.field].join('.')).join(',');
  throw new RequestError(400, 'ValidationError', `Invalid sort: ${total} entries to sort through relations`, {
    param: 'sort',
    source: 'query',
    path,
    found: `${total} matching entries`,
    accepted: `at most ${most}; more where the path is copied into the documents (pluginOptions.varve.denormalise of the type)`,
  });
}
