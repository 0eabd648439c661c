import type { TextSearchReport } from '../../shared/read-index/text-search.ts';
import { explainHit } from '../query/explain-hit.ts';
import { ownFields } from '../query/explain-words.ts';
import type { HitRow } from './mark-hit.ts';
import type { InstantPlan } from './plan-query.ts';

/** Returns Algolia's `_rankingInfo` of a hit, from its own texts; undefined if the query does not ask for it. */
export function rankingInfo(
  { query, searched, search }: InstantPlan,
  report: TextSearchReport | undefined,
  row: HitRow,
): object | undefined {
  if (!query.withRankingInfo) return undefined;
  const locale = typeof row['locale'] === 'string' ? row['locale'] : searched.locale;
  const fields = ownFields(searched.fields, search.text?.fields);
  const terms = report?.terms.get(locale) ?? [];
  const { typos, distance, exact, first, words } = explainHit(fields, terms, row, locale);
  return {
    nbTypos: Math.ceil(typos),
    firstMatchedWord: first,
    proximityDistance: distance,
    userScore: 0,
    geoDistance: 0,
    geoPrecision: 0,
    nbExactWords: exact,
    words: new Set(words.map(({ typed }) => typed)).size,
    filters: 0,
    matchedWords: words,
  };
}
