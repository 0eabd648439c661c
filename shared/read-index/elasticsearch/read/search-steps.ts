import { RequestError } from '../../../request-error.ts';
import type { Hits, SearchRequest, SearchResult, SortPosition } from '../../read-index.ts';
import { WINDOW } from '../layout/index-definition.ts';
import type { Dsl } from '../plan/dsl.ts';
import { byRelevance, readPosition, type SortClause, sortDsl, writePosition } from '../plan/plan-sort.ts';
import type { SearchHit } from '../wire/search-answer.ts';
import type { FirstHits } from './group-many.ts';
import { groupHits } from './group-rows.ts';
import { type PageSearch, readHits, readPage } from './page-search.ts';
import { rowFields } from './read-rows.ts';

/** Order of a search whose scores are read in steps. `leading`: the order within a step. Then the score counts, and then `ties`. */
export type StepOrder = {
  readonly step: number;
  readonly leading: readonly SortClause[];
  readonly ties: readonly SortClause[];
};

/**
 * Maximum steps of one page. Each costs a pair of requests, one after the other. Each step has a document, so this is enough for every page of
 * 100 that begins with the first entry or behind a cursor.
 */
const MOST_STEPS = 128;

/** Factor from a float of 32 bits to one that is higher, by one or two units in the last place. */
const NEXT_FLOAT = 1 + 2 ** -23;

type Page = { readonly hits: Hits; readonly next?: SortPosition | null };

/**
 * Reads a page in the order of the score's steps. It reads the best step that documents have, then the documents of that step, and so on
 * until the page is full.
 */
export async function searchSteps(search: PageSearch, order: StepOrder): Promise<SearchResult> {
  const { from, size, withTotal, cursor, groups } = search.request;
  if (groups !== undefined)
    return groupHits(search, groups, {
      all: (first) => readAllSteps(search, order, first),
      first: (within, first) => readSteps(within, order, { from: 0, ...first }),
    });
  if (from + size > WINDOW) refuse(from, size);
  const [total, page] = await Promise.all([
    withTotal ? countMatches(search) : undefined,
    cursor === undefined ? readFrom(search, order) : readBehind(search, order, cursor.after),
  ]);
  return { total, ...page };
}

async function readFrom(search: PageSearch, order: StepOrder): Promise<Page> {
  const { from, size } = search.request;
  const docvalue_fields = ['key', ...rowFields(search.details)];
  return { hits: readHits(search, await readSteps(search, order, { from, size, docvalue_fields })) };
}

/** Reads hits step by step until there are `size` after the first `from`. */
async function readSteps(
  search: PageSearch,
  order: StepOrder,
  { from, size, docvalue_fields }: FirstHits & Pick<SearchRequest, 'from'>,
): Promise<readonly SearchHit[]> {
  const found: SearchHit[] = [];
  let skipped = from;
  let level: number | undefined;
  const count = createStepCount();
  while (found.length < size) {
    count();
    level = await bestLevel(search, order.step, level);
    if (level === undefined) break;
    const { hits } = await search.session.search(search.request.type, {
      from: skipped,
      size: size - found.length,
      docvalue_fields,
      query: stepQuery(search.query, order.step, level),
      sort: sortDsl(inStep(order)),
      track_total_hits: true,
    });
    for (const hit of hits.hits) found.push(hit);
    skipped = Math.max(0, skipped - (hits.total?.value ?? 0));
  }
  return found;
}

/** Reads all hits at once, and puts them in the order of the score's steps. */
async function readAllSteps(
  { session, request, query }: PageSearch,
  order: StepOrder,
  first: FirstHits,
): Promise<readonly SearchHit[]> {
  const { hits } = await session.search(request.type, { ...first, query, sort: sortDsl(inStep(order)) });
  const level = ({ sort = [] }: SearchHit) => Math.floor(Number(sort[order.leading.length]) / order.step);
  // The sort is stable: hits of one step keep their order.
  return hits.hits.toSorted((one, other) => level(other) - level(one));
}

async function readBehind(search: PageSearch, order: StepOrder, after: SortPosition | null): Promise<Page> {
  const { size } = search.request;
  const clauses = inStep(order);
  const found: { readonly hit: SearchHit; readonly level: number }[] = [];
  let level = after === null ? undefined : Number(after[0]);
  let position = after?.slice(1);
  const count = createStepCount();
  // Requests one row more than the page has. If it is found, another page follows.
  while (found.length <= size) {
    count();
    if (position === undefined) level = await bestLevel(search, order.step, level);
    if (level === undefined) break;
    const within = { ...search, query: stepQuery(search.query, order.step, level) };
    const { hits } = await readPage(within, {
      size: size + 1 - found.length,
      sort: sortDsl(clauses),
      ...(position === undefined ? {} : { search_after: writePosition(clauses, position) }),
    });
    for (const hit of hits.hits) found.push({ hit, level });
    position = undefined;
  }
  const last = found.length > size ? found[size - 1] : undefined;
  const hits = readHits(
    search,
    found.slice(0, size).map(({ hit }) => hit),
  );
  return { hits, next: last ? [last.level, ...readPosition(clauses, last.hit.sort ?? [])] : null };
}

/** Creates the count of the steps of one page. It refuses the page if there are more than MOST_STEPS. */
export function createStepCount(): () => void {
  let steps = 0;
  return () => {
    steps++;
    if (steps <= MOST_STEPS) return;
    throw new RequestError(
      'query-too-large',
      `The page has more than ${MOST_STEPS} groups of entries that are equal before the attributes of the content type's ranking`,
      {
        param: 'pagination',
        source: 'query',
        found: `more than ${MOST_STEPS} groups before an attribute with before`,
        accepted: `up to ${MOST_STEPS}: a page nearer to the first one, a smaller page, or pages by pagination[cursor]; an earlier rule in before of the ranking makes fewer groups`,
      },
    );
  };
}

/** Returns the order within a step. */
function inStep({ leading, ties }: StepOrder): readonly SortClause[] {
  return [...leading, ...byRelevance(ties)];
}

/** Returns the number of the best step below `before` in which documents are; undefined if there is none. */
async function bestLevel(
  { session, request, query }: PageSearch,
  step: number,
  before: number | undefined,
): Promise<number | undefined> {
  const below =
    before === undefined ? query : { bool: { must: [query], must_not: [scored(query, before * step)] } };
  // Elasticsearch lists the score among the sort values only if another key follows it.
  const sort = sortDsl(byRelevance([{ field: 'f.id', direction: 'asc', stored: 'whole' }]));
  const { hits } = await session.search(request.type, { size: 1, query: below, sort });
  const score = hits.hits[0]?.sort?.[0];
  return typeof score === 'number' ? Math.floor(score / step) : undefined;
}

function stepQuery(query: Dsl, step: number, level: number): Dsl {
  // Elasticsearch has scores as floats. Those of pinned documents are so high that the next whole number is no other float.
  const better = scored(query, Math.max((level + 1) * step, level * step * NEXT_FLOAT));
  return { bool: { must: [query], filter: [scored(query, level * step)], must_not: [better] } };
}

/** Matches documents with a score of at least `least`. */
function scored(query: Dsl, least: number): Dsl {
  return { function_score: { query, min_score: least } };
}

async function countMatches({ session, request, query }: PageSearch): Promise<number> {
  const { hits } = await session.search(request.type, { size: 0, query, track_total_hits: true });
  return hits.total?.value ?? 0;
}

function refuse(from: number, size: number): never {
  throw new RequestError('page-too-far', `Invalid pagination: an offset of ${from}`, {
    param: 'pagination',
    source: 'query',
    found: from + size,
    accepted: `up to ${WINDOW} entries where rules count between the tiers of relevance; beyond, go from page to page with pagination[cursor]`,
  });
}
