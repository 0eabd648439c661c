import type { PlacedRules, RankPlace } from '../../text-search.ts';
import type { Dsl } from '../plan/dsl.ts';

/**
 * Factors by which the ranking tiers become one number. Larger is better. Each tier is a sum over up to eight terms (four words, each
 * split), and is smaller than half a step of the next tier. All are whole numbers below 2^24, which a score represents exactly.
 */
export type TierUnits = {
  readonly exact: number;
  readonly weight: number;
  readonly near: number;
  readonly typos: number;
};

/**
 * Binary digits of a score below each place, without boosts: exact words need 4, weights 7, distances 5, and typos 6 with half a typo. So 22
 * are used.
 */
const DIGITS: readonly (readonly [RankPlace, number])[] = [
  ['end', 0],
  ['exact', 4],
  ['weight', 11],
  ['distance', 16],
  ['typos', 22],
];
const NO_RULES: PlacedRules = { pinned: [], boosts: [], keys: [], keysBefore: 'end' };
/** Worth of a boost before a BM25 score, which is smaller. */
const BEFORE_SCORE = 2 ** 13;

/** Returns the factors of tiers that leave a binary digit for each boost. */
export function tierUnits(placed: PlacedRules = NO_RULES): TierUnits {
  return {
    exact: 2 ** digitsBelow(placed, ['end']),
    weight: 2 ** (4 + digitsBelow(placed, ['end', 'exact'])),
    near: 2 ** (11 + digitsBelow(placed, ['end', 'exact', 'weight'])),
    typos: 2 ** (17 + digitsBelow(placed, ['end', 'exact', 'weight', 'distance'])),
  };
}

/** Returns the number of boosts at some places. */
function digitsBelow({ boosts }: PlacedRules, places: readonly RankPlace[]): number {
  return boosts.filter(({ before }) => places.includes(before)).length;
}

/** Returns queries that add the boosts to a score. `queries`: the query of each boost. */
export function boostScores(
  placed: PlacedRules,
  queries: readonly Dsl[],
  isQuestion: boolean,
): readonly Dsl[] {
  let digits = 0;
  const scores: Dsl[] = [];
  for (const [place, below] of DIGITS) {
    if (isQuestion && place !== 'typos') continue;
    const here = placed.boosts.flatMap(({ before }, at) => (before === place ? [queries[at] as Dsl] : []));
    // The first boost of a place is the most important one.
    for (const filter of here.toReversed()) {
      const boost = isQuestion ? BEFORE_SCORE * 2 ** digits : 2 ** (below + digits);
      scores.push({ constant_score: { filter, boost } });
      digits++;
    }
  }
  return scores;
}

/**
 * Scores of pinned documents: above all other scores, and so far apart that each has a step of its own. With at most 20 of them, a float
 * represents the bounds of every step exactly.
 */
const [ABOVE_ALL, BETWEEN_PINS] = [2 ** 24, 2 ** 22];

/** Returns queries for the pinned documents with their scores. `queries`: the query of each document. */
export function pinScores(queries: readonly Dsl[]): readonly Dsl[] {
  return queries.map((filter, at) => ({
    constant_score: { filter, boost: ABOVE_ALL + (queries.length - at) * BETWEEN_PINS },
  }));
}

/**
 * Returns the step of the score before which the keys count: the keys order the documents whose scores are in the same step. `all`: they
 * count before the whole score. `none`: after it.
 */
export function keyStep(placed: PlacedRules, isQuestion: boolean): number | 'all' | 'none' {
  const { pinned, keysBefore, boosts } = placed;
  if (placed.keys.length === 0 || (isQuestion && keysBefore !== 'typos')) return 'none';
  const at = DIGITS.findIndex(([place]) => place === keysBefore);
  const lower = DIGITS.slice(0, at).map(([place]) => place);
  const isFirst = pinned.length === 0 && !boosts.some(({ before }) => before === 'typos');
  if (keysBefore === 'typos' && isFirst) return 'all';
  return isQuestion ? BEFORE_SCORE : 2 ** ((DIGITS[at]?.[1] ?? 0) + digitsBelow(placed, lower));
}
