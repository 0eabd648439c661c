import { stepsAway } from '../../shared/read-index/geo-area.ts';
import type { TextSearchReport } from '../../shared/read-index/text-search.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { CountLetters } from '../query/answer-size.ts';
import { createHitExplanation } from '../query/explain-hit.ts';
import { ownFields } from '../query/explain-words.ts';
import type { HitRow } from './mark-hit.ts';
import type { InstantPlan } from './plan-query.ts';

/** Maximum comparisons of words for the ranking of the hits of a request: up to two seconds of work, in slices. */
const MOST_COMPARISONS = 1_000_000;

/** Creates the count of the comparisons of one request. It refuses the request if there are more than MOST_COMPARISONS. */
export function createComparisonCount(): (comparisons: number) => void {
  let counted = 0;
  return (comparisons) => {
    counted += comparisons;
    if (counted <= MOST_COMPARISONS) return;
    const found = `more than ${MOST_COMPARISONS} comparisons of words`;
    throw new RequestError('query-too-large', `The parameter 'getRankingInfo' would need ${found}`, {
      param: 'getRankingInfo',
      found,
      accepted: 'fewer words in the query, fewer hits, or fewer queries at once',
    });
  };
}

/** Limits of what a request costs. */
type RankingLimits = {
  readonly count: CountLetters;
  readonly compare: (comparisons: number) => void;
};

/**
 * Creates Algolia's `_rankingInfo` of a hit, from its own texts; undefined if the query does not ask for it. If a call ends with its slice,
 * the next call continues it.
 */
export function createRankingInfo(
  { query, searched, search, hits: { nearest } }: InstantPlan,
  report: TextSearchReport | undefined,
  row: HitRow,
  { count, compare }: RankingLimits,
): (() => object) | undefined {
  if (!query.withRankingInfo) return undefined;
  const locale = typeof row['locale'] === 'string' ? row['locale'] : searched.locale;
  const fields = ownFields(searched.fields, search.text?.fields);
  const terms = report?.terms.get(locale) ?? [];
  const explain = createHitExplanation({ fields, terms, locale, compare }, row);
  return () => {
    const { typos, distance, exact, first, words } = explain();
    count(JSON.stringify(words).length);
    return {
      nbTypos: Math.ceil(typos),
      firstMatchedWord: first,
      proximityDistance: distance,
      userScore: 0,
      geoDistance: nearest ? stepsAway(nearest, row[nearest.columns.lat], row[nearest.columns.lng]) : 0,
      geoPrecision: nearest?.step ?? 0,
      nbExactWords: exact,
      words: new Set(words.map(({ typed }) => typed)).size,
      filters: 0,
      matchedWords: words,
    };
  };
}
