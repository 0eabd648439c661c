import { defined } from '../../shared/defined.ts';
import type { FacetCounts } from '../../shared/read-index/facets.ts';
import type { AnswerScope, ReadIndex, SearchResult } from '../../shared/read-index/read-index.ts';
import { PART, rest } from '../../shared/turns/slice.ts';
import { type AnswerTerms, TURNS, type TurnStep, taskOf } from '../../shared/turns/turns.ts';
import { type CountLetters, createCountedHighlight, createLetterCount } from '../query/answer-size.ts';
import { writeAnswer } from '../query/answer-writer.ts';
import { DEFAULT_ROW_BUDGET, gatherRows } from '../query/gather-rows.ts';
import { suggestQuery, withSimilarWords } from '../query/suggest-query.ts';
import { createListWriting } from '../query/write-rows.ts';
import type { ClickCounting } from './click-events.ts';
import { facetHits } from './facet-hits.ts';
import { geolocOf } from './geo-boxes.ts';
import { isEveryRow } from './instant-filter.ts';
import { EVERY_MEMBER, type InstantQuery } from './instant-query.ts';
import { createRowMarking, type HitRow } from './mark-hit.ts';
import { isNumeric } from './numeric-bounds.ts';
import type { HitPlan } from './plan-hits.ts';
import type { InstantPlan } from './plan-query.ts';
import { createComparisonCount, createRankingInfo } from './ranking-info.ts';

export type InstantTerms = AnswerTerms & {
  /** Id of the request in logs. */
  readonly id: string;
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Called with the parameters that have no effect. */
  readonly ignored: (names: readonly string[]) => void;
};

/** `idOf`: see ClickCounting. Absent: no clicks are counted. */
type AnswerOptions = InstantTerms & { readonly idOf?: ClickCounting['idOf'] };

/** Answers the queries of a request, in order, on one state of the index. */
export function answerQueries(
  index: ReadIndex,
  plans: readonly InstantPlan[],
  terms: AnswerOptions,
): Promise<readonly object[]> {
  return index.answer(async (answer) => {
    const started = terms.now();
    const found = await index.searchMany(
      plans.map((plan) => ({
        ...(showsSuggestion(plan.query) ? withSimilarWords(plan) : plan.search),
        answer,
        traversed: plan.selection.populate.length > 0,
      })),
    );
    const elapsed = () => Math.round(terms.now() - started);
    const shared = {
      elapsed,
      idOf: terms.idOf,
      count: createLetterCount(),
      compare: createComparisonCount(),
    };
    const results: object[] = [];
    for (const [at, plan] of plans.entries())
      results.push(await presentQuery(plan, found[at] as SearchResult, { index, answer, ...shared }));
    return results;
  }, terms);
}

type Presenting = {
  readonly index: ReadIndex;
  readonly answer: AnswerScope;
  /** Milliseconds since the request's searches began. */
  readonly elapsed: () => number;
  readonly idOf: ClickCounting['idOf'] | undefined;
  /** Counts the letters of all queries of the request. */
  readonly count: CountLetters;
  /** Counts the comparisons of words of all queries of the request. */
  readonly compare: (comparisons: number) => void;
};

async function presentQuery(plan: InstantPlan, found: SearchResult, presenting: Presenting): Promise<object> {
  const { elapsed, idOf } = presenting;
  const { query, search, words } = plan;
  if (query.facet !== undefined) {
    const counts = found.facets?.[0] ?? { values: [] };
    return {
      facetHits: facetHits(counts, query.facet, query.tags),
      exhaustiveFacetsCount: true,
      processingTimeMS: elapsed(),
    };
  }
  const hits = search.size === 0 ? [] : await readHits(plan, found, presenting);
  const nbHits = found.total ?? 0;
  return withMembers(query, {
    hits,
    ...pagesOf(plan, nbHits),
    ...(words.facets.length === 0 ? {} : facetMembers(plan, found.facets ?? [])),
    exhaustiveNbHits: true,
    exhaustiveFacetsCount: true,
    exhaustive: { nbHits: true, facetsCount: true },
    index: query.indexName,
    query: query.query,
    params: query.params,
    renderingContent: {},
    processingTimeMS: elapsed(),
    ...defined({
      suggestion: suggestQuery(search, found),
      queryID: query.withQueryId ? idOf?.(search) : undefined,
    }),
  });
}

/**
 * Returns whether the answer shows another query. Behind refined facets few entries are found, and removing a refinement helps more than other
 * words. So a query with filters has to name the member.
 */
function showsSuggestion({ members, filter, boxes, around }: InstantQuery): boolean {
  if (members?.includes('suggestion') === true) return true;
  if (boxes !== undefined || around !== undefined) return false;
  return (members === undefined || members.includes(EVERY_MEMBER)) && isEveryRow(filter);
}

/** Returns the members of an answer that the query names. */
function withMembers({ members }: InstantQuery, answer: object): object {
  if (members === undefined || members.includes(EVERY_MEMBER)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => members.includes(name)));
}

function pagesOf({ query, pageSize, lastPage }: InstantPlan, nbHits: number): object {
  if (query.window !== undefined) return { nbHits, offset: query.window.offset, length: pageSize };
  const nbPages = pageSize === 0 ? 0 : Math.min(Math.ceil(nbHits / pageSize), lastPage + 1);
  return { nbHits, page: query.page, nbPages, hitsPerPage: pageSize };
}

/** Returns `facets`, and `facets_stats` of numbers and dates. Dates are milliseconds, as in `numericFilters`. */
function facetMembers({ words }: InstantPlan, counts: readonly FacetCounts[]): object {
  const facets = words.facets.map(({ name }, at) => [
    name,
    Object.fromEntries((counts[at]?.values ?? []).map(({ value, count }) => [value, count])),
  ]);
  const stats = words.facets.flatMap(({ name, request }, at) => {
    const found = counts[at]?.stats;
    return found === undefined || !isNumeric(request.type) ? [] : [[name, found]];
  });
  return { facets: Object.fromEntries(facets), facets_stats: Object.fromEntries(stats) };
}

async function readHits(
  plan: InstantPlan,
  { hits, text, groups }: SearchResult,
  { index, answer, count, compare }: Presenting,
): Promise<readonly object[]> {
  const { type, query, selection, search, hits: shows } = plan;
  const budget = { total: DEFAULT_ROW_BUDGET, left: DEFAULT_ROW_BUDGET };
  const context = { index, world: search.world, budget, answer };
  const tree = await gatherRows(context, { type: type.uid, path: [] }, hits, selection);
  const bytes = await writeAnswer(answer, selection, [createListWriting(tree)]);
  count(bytes.length);
  const rows = JSON.parse(bytes.toString()) as readonly HitRow[];
  const mark = createRowMarking(plan.searched, text, query, createCountedHighlight(count));
  const sequence = groups?.flatMap((group) => Array.from({ length: group.hits }, (_, at) => at));
  const present = (row: HitRow, at: number) => {
    const rank = createRankingInfo(plan, text, row, { count, compare });
    return () => {
      const ranking = rank?.();
      return {
        ...shownOf(row, shows),
        objectID: row['documentId'],
        _highlightResult: mark(row, shows.highlights),
        ...(shows.snippets.length === 0 ? {} : { _snippetResult: mark(row, shows.snippets) }),
        ...defined({
          _geoloc: geolocOf(row, shows.point),
          _rankingInfo: ranking,
          _distinctSeqID: sequence?.[at],
        }),
      };
    };
  };
  return TURNS.finish(taskOf(answer), () => createPresentation(rows, present));
}

/** Presents the rows one by one. If a call ends with its slice, the next call continues, also within a row. */
function createPresentation(
  rows: readonly HitRow[],
  present: (row: HitRow, at: number) => TurnStep<object>,
): () => readonly object[] {
  const presented: object[] = [];
  let step: TurnStep<object> | undefined;
  return () => {
    while (presented.length < rows.length) {
      const at = presented.length;
      step ??= present(rows[at] as HitRow, at);
      presented.push(step());
      step = undefined;
      rest(PART);
    }
    return presented;
  };
}

function shownOf(row: HitRow, { shown, omitted }: HitPlan): HitRow {
  const own =
    shown === null ? row : Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)));
  return omitted.reduce<HitRow>((rest, path) => without(rest, path) as HitRow, own);
}

/** Returns a value without the member that a path names; of a list, in each item. */
function without(value: unknown, path: readonly string[]): unknown {
  const [name = '', ...rest] = path;
  if (Array.isArray(value)) return value.map((each: unknown) => without(each, path));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
  const { [name]: here, ...others } = value as HitRow;
  return rest.length === 0 ? others : { ...value, [name]: without(here, rest) };
}
