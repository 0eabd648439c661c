import { defined } from '../../../defined.ts';
import { RequestError } from '../../../request-error.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { SearchRequest, SearchResult, SortPosition } from '../../read-index.ts';
import type { GroupRequest } from '../../row-groups.ts';
import type { TextSearch, WordsRequest } from '../../text-search.ts';
import { WINDOW } from '../layout/index-definition.ts';
import { planQuery } from '../plan/plan-query.ts';
import {
  byRelevance,
  planSort,
  readPosition,
  type SortClause,
  sortDsl,
  writePosition,
} from '../plan/plan-sort.ts';
import type { SearchBody } from '../wire/write-search.ts';
import { countFacets } from './count-facets.ts';
import { readFarPage } from './far-page.ts';
import { findOtherWords } from './find-other-words.ts';
import type { FirstHits } from './group-many.ts';
import { groupHits, groupKeys, readFirst } from './group-rows.ts';
import { type PageSearch, readHits, readPage, totalOf } from './page-search.ts';
import { keyStep } from './placed-score.ts';
import { BUCKETS, FROM_HITS, readKeys } from './read-keys.ts';
import { readRows, rowFields } from './read-rows.ts';
import { searchSteps } from './search-steps.ts';
import { type RuleQueries, searchWords, type WordQuery, wordScope } from './search-words.ts';
import { resolveQuery } from './semi-join.ts';
import type { Session } from './session.ts';
import { isBehind, type PlacedRow, sortInProcess } from './sort-in-process.ts';

/** Offset from which a page is read as a far page, which may be nearer to the other end. */
const COUNT_FROM = 2000;

/** Reads one page of a search. */
export async function searchRows(session: Session, request: SearchRequest): Promise<SearchResult> {
  const { type, text, facets } = request;
  const query = await resolveQuery(session, planQuery(session.layouts, type, request.query));
  const clauses = planSort(session.layouts(type), request.sort);
  const search: PageSearch = { session, request, query, details: request.traversed ?? false };
  if (text === undefined && facets === undefined) return searchPage(search, clauses);
  const find = async (words: WordQuery): Promise<SearchResult> => {
    const { query: matched } = words;
    const [page, counts] = await Promise.all([
      text?.isRanked === true
        ? rankedPage(search, text, words, clauses)
        : searchPage({ ...search, query: matched }, clauses),
      facets && countFacets(session, type, facets, matched),
    ]);
    return { ...page, ...defined({ facets: counts }) };
  };
  if (text === undefined) return find({ query, ranked: query, isQuestion: false });
  const rules = await ruleQueries(session, type, text);
  const asked = text.words;
  const findOthers = (kind: WordsRequest['kind']) =>
    asked?.kind === kind ? findOtherWords(wordScope({ session, type, text }), query, asked) : undefined;
  const [{ found, report, isWhole }, completed] = await Promise.all([
    searchWords({ session, type, text, within: query, size: search.request.size, rules }, find),
    findOthers('completed'),
  ]);
  const words = completed ?? (isWhole ? undefined : await findOthers('similar'));
  return { ...found, text: report, ...defined({ words }) };
}

async function ruleQueries(session: Session, type: Uid, text: TextSearch): Promise<RuleQueries> {
  const { pinned = [], boosts = [] } = (text.isRanked && text.placed) || {};
  const planned = (queries: readonly BoolQuery[]) =>
    Promise.all(queries.map(async (query) => resolveQuery(session, planQuery(session.layouts, type, query))));
  const [boosted, pins] = await Promise.all([
    planned(boosts.map(({ query }) => query)),
    planned(pinned.map((value) => ({ kind: 'term', field: 'documentId', value }))),
  ]);
  return { boosts: boosted, pinned: pins };
}

/** Reads a page in the order of relevance and of the owner's rules. */
async function rankedPage(
  search: PageSearch,
  { placed }: TextSearch,
  { ranked: query, isQuestion }: WordQuery,
  ties: readonly SortClause[] | null,
): Promise<SearchResult> {
  const scored = { ...search, query };
  const { layouts } = search.session;
  const leading = placed && planSort(layouts(search.request.type), placed.keys)?.slice(0, -1);
  if (placed === undefined || !leading || ties === null) return searchPage(scored, ties && byRelevance(ties));
  const step = keyStep(placed, isQuestion);
  if (step === 'all') return searchPage(scored, [...leading, ...byRelevance(ties)]);
  if (step === 'none') return searchPage(scored, byRelevance([...leading, ...ties]));
  return searchSteps(scored, { step, leading, ties });
}

async function searchPage(search: PageSearch, clauses: readonly SortClause[] | null): Promise<SearchResult> {
  const { session, request } = search;
  const { from, size, withTotal, cursor, groups } = request;
  if (groups !== undefined) return groupedPage(search, clauses, groups);
  if (clauses === null) return sortedInProcess(search);
  if (cursor !== undefined) return pageBehind(search, clauses, cursor.after);
  if (from >= COUNT_FROM || from + size > WINDOW) return readFarPage(search, clauses, session.totals);
  const page = { from, size, sort: sortDsl(clauses), track_total_hits: withTotal };
  const { hits } = await readPage(search, page);
  return { total: totalOf(search, hits), hits: readHits(search, hits.hits) };
}

async function pageBehind(
  search: PageSearch,
  clauses: readonly SortClause[],
  after: SortPosition | null,
): Promise<SearchResult> {
  const { size, withTotal } = search.request;
  // Requests one row more than the page has. If it is found, another page follows.
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

/** Groups all rows of a page's search. `clauses` is null for an order that the documents do not contain. */
async function groupedPage(
  search: PageSearch,
  clauses: readonly SortClause[] | null,
  groups: GroupRequest,
): Promise<SearchResult> {
  const { session, request } = search;
  if (clauses !== null || request.size === 0) {
    const first = (within: PageSearch, page: FirstHits) => readFirst(within, clauses ?? [], page);
    return groupHits(search, groups, { all: (page) => first(search, page), first });
  }
  const rowSet = { type: request.type, path: [] };
  const sorted = await sortInProcess(session, rowSet, await keysToSort(search), request.sort);
  return groupKeys(
    search,
    groups,
    sorted.map(({ key }) => key),
  );
}

/** Sorts by distance, or through relations that the documents do not contain. All matching rows are sorted in this process, up to a limit. */
async function sortedInProcess(search: PageSearch): Promise<SearchResult> {
  const { session, request, details } = search;
  const { type, withTotal } = request;
  const keys = await keysToSort(search);
  const total = keys.length;
  const rowSet = { type, path: [] };
  const sorted = await sortInProcess(session, rowSet, keys, request.sort);
  const { rows, next } = pageOf(sorted, request);
  const fields = rowFields(details);
  const pageKeys = rows.map(({ key }) => key);
  const read = new Map((await readRows(session, rowSet, pageKeys, { fields })).map((row) => [row.key, row]));
  const found = pageKeys.flatMap((key) => read.get(key) ?? []);
  const result = { total: withTotal ? total : undefined, hits: readHits(search, found) };
  return next === undefined ? result : { ...result, next };
}

/** Returns the keys of all matching rows. Rejects with a 400 if they are too many to sort. */
async function keysToSort({ session, request, query }: PageSearch): Promise<readonly number[]> {
  const { type } = request;
  const { sortLimit } = session;
  const body = { size: FROM_HITS, query, track_total_hits: true, docvalue_fields: ['key'] };
  const { hits } = await session.search(type, body);
  const total = hits.total?.value ?? 0;
  if (total > sortLimit) refuseSort(total, sortLimit, request);
  if (total <= FROM_HITS) return hits.hits.map(({ fields }) => fields?.['key']?.[0] as number);
  const asked = { type, query, field: 'key', atOnce: BUCKETS };
  return readKeys(session, asked, () => refuseSort(session.semiJoinLimit, sortLimit, request));
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
  const byDistance = sort.some((key) => 'nearest' in key);
  const names = sort.map((key) => ('nearest' in key ? 'distance' : [...key.path, key.field].join('.')));
  const way = byDistance ? 'by distance' : 'through relations';
  const others = byDistance
    ? 'find fewer, such as those in a circle ($near, aroundRadius)'
    : 'more where the path is copied into the documents (pluginOptions.varve.denormalise of the type)';
  throw new RequestError('query-too-large', `Invalid sort: ${total} entries to sort ${way}`, {
    param: 'sort',
    source: 'query',
    path: names.join(','),
    found: `${total} matching entries`,
    accepted: `at most ${most}; ${others}`,
  });
}
