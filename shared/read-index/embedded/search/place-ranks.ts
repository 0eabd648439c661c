import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import type { PlacedRules, RankPlace } from '../../text-search.ts';
import { type Bits, hasBit } from '../lists/bits.ts';
import type { RankedRows } from './rank-rows.ts';

/** Ranks of rows in two parts. Keys order the rows whose ranks are equal, before `after` does. */
export type TwoPartRanks = RankedRows & { readonly after: Float64Array };

/** Places of rules, from the most important one, each with the worth of the digits below it in a rank (`tierRank`). */
const DIGITS: readonly (readonly [RankPlace, number])[] = [
  ['typos', 2 ** 36],
  ['distance', 2 ** 26],
  ['weight', 2 ** 17],
  ['exact', 2 ** 7],
  ['end', 1],
];
/** Worth of a boost before a BM25 score, which is far smaller. */
const BEFORE_SCORE = 2 ** 20;

/** First part of the rank of the first pinned row, which is smaller than every other. */
const PINNED = -(2 ** 45);

/** The rows of each boost and of each pinned document. */
export type RuleRows = {
  readonly boosted: readonly (() => Bits)[];
  readonly pinned: readonly (() => Bits)[];
};

/**
 * Adds the owner's rules to ranks. `isQuestion`: the ranks are BM25 scores. If a call ends with its slice, the next call continues.
 */
export function createPlacedRanks(
  rank: () => RankedRows,
  { boosts, keysBefore }: PlacedRules,
  { boosted, pinned }: RuleRows,
  isQuestion: boolean,
): () => TwoPartRanks {
  const collect = createSequence(boosted);
  const collectPinned = createSequence(pinned);
  const places = boosts.map(({ before }) => before);
  const place = isQuestion ? placeScore(places, keysBefore) : placeTiers(places, keysBefore);
  let placed: TwoPartRanks | undefined;
  let done = 0;
  return () => {
    const { rows, ranks } = rank();
    const matched = collect();
    const pins = collectPinned();
    placed ??= { rows, ranks: new Float64Array(rows.length), after: new Float64Array(rows.length) };
    while (done < rows.length) {
      const row = rows[done] as number;
      const pin = pins.findIndex((bits) => hasBit(bits, row));
      const [before, after] =
        pin >= 0
          ? [PINNED + pin, 0]
          : place(ranks[done] as number, (at) => !hasBit(matched[at] as Bits, row));
      placed.ranks[done] = before;
      placed.after[done] = after;
      done++;
      if ((done & 255) === 0) rest(256);
    }
    return placed;
  };
}

/** Returns the two parts of a rank. `lacks`: whether the row does not have a boost. */
type PlaceRank = (
  rank: number,
  lacks: (boost: number) => boolean,
) => readonly [before: number, after: number];

/** A rank's digits are its tiers. A boost is one more binary digit at its place. */
function placeTiers(places: readonly RankPlace[], keysBefore: RankPlace): PlaceRank {
  const digits = DIGITS.flatMap(([place, worth]) =>
    places.flatMap((each, boost) => (each === place ? [{ boost, worth }] : [])),
  );
  const at = DIGITS.findIndex(([place]) => place === keysBefore);
  const lower = DIGITS.slice(at + 1).map(([place]) => place);
  const below = (DIGITS[at]?.[1] ?? 1) * 2 ** places.filter((place) => lower.includes(place)).length;
  return (rank, lacks) => {
    let whole = rank;
    for (const { boost, worth } of digits)
      whole = (Math.floor(whole / worth) * 2 + Number(lacks(boost))) * worth + (whole % worth);
    const before = Math.floor(whole / below);
    return [before, whole - before * below];
  };
}

function placeScore(places: readonly RankPlace[], keysBefore: RankPlace): PlaceRank {
  const first = places.flatMap((place, boost) => (place === 'typos' ? [boost] : []));
  return (rank, lacks) => {
    const before = first.reduce((sum, boost) => sum * 2 + Number(lacks(boost)), 0) * BEFORE_SCORE;
    return keysBefore === 'typos' ? [before, rank] : [before + rank, 0];
  };
}
