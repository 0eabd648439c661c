import { TYPO_LEVELS } from './match-word.ts';

/**
 * Positions of a query's words in one row, in the order of the row's words. Positions in different values are far apart (`VALUE_GAP`). The
 * arrays are parallel. Their first `count` entries are valid.
 */
export type RowHits = {
  count: number;
  readonly position: Int32Array;
  /** Number of the term in the query. */
  readonly term: Uint8Array;
  /** Number of the field among the searched fields. */
  readonly field: Uint8Array;
  readonly typos: Float32Array;
  readonly isExact: Uint8Array;
};

/** Maximum hits of a row. Further hits are ignored. */
const MOST_HITS = 65_536;
/** Distance from which words are not near each other. */
export const FAR = 5;
/** Positions between the last word of one value and the first of the next. */
export const VALUE_GAP = FAR + 1;
/** Position of two words that form one term. It is near to no other position. */
export const UNPLACED = -1;
/** Lowest rank of attributes. All later ranks count as this one. */
export const LAST_RANK = 15;
/**
 * Maximum number of words, each counted once per field, that may be near to others in one query. In Elasticsearch each of them is a clause
 * for each distance, and it allows some thousands of clauses.
 */
const MOST_NEAR_TOKENS = 600;
/** Number of typos if no word matches a term. */
const NO_WORD = 255;

/** Creates arrays for the hits of one row, at most 65,536. Set `count` to 0 before the next row. */
export function createRowHits(): RowHits {
  return {
    count: 0,
    position: new Int32Array(MOST_HITS),
    term: new Uint8Array(MOST_HITS),
    field: new Uint8Array(MOST_HITS),
    typos: new Float32Array(MOST_HITS),
    isExact: new Uint8Array(MOST_HITS),
  };
}

/**
 * Adds the match of a word with a term of the query. Positions must not decrease from one call to the next. Ignores hits beyond the limit.
 */
export function addHit(
  hits: RowHits,
  term: number,
  at: { readonly position: number; readonly field: number },
  match: { readonly typos: number; readonly isExact: boolean },
): void {
  const { count } = hits;
  if (count === MOST_HITS) return;
  hits.position[count] = at.position;
  hits.term[count] = term;
  hits.field[count] = at.field;
  hits.typos[count] = match.typos;
  hits.isExact[count] = match.isExact ? 1 : 0;
  hits.count++;
}

/** Maximum number of terms, which have one entry each. A query cannot require more. */
const MOST_TERMS = 64;
const leastTypos = new Float32Array(MOST_TERMS);
const bestRank = new Uint8Array(MOST_TERMS);
const exact = new Uint8Array(MOST_TERMS);
const lastAt = new Int32Array(MOST_TERMS);
/** Last position of the term before the one in `lastAt`. */
const placeBefore = new Int32Array(MOST_TERMS);
/** Smallest distance from a term to the next one. */
const nearest = new Uint8Array(MOST_TERMS);

const NOWHERE = -1_000_000;

export type Tiers = {
  /** Number of terms in the query. */
  readonly terms: number;
  /** Places of the fields by weight. The heaviest fields have 0. */
  readonly rankOfField: readonly number[];
  readonly nearness: Nearness;
};

/** Says which words of a query may be near to each other. */
export type Nearness = {
  /** Typos of the words that count for each term: the fewest that any word has. */
  readonly typos: readonly number[];
  /** True for each term that may be near to the next one. */
  readonly isNear: readonly boolean[];
};

/**
 * Returns the fewest typos of each term, and which terms may be near to the next. `counts`: for each term the number of words that match
 * it, for each of `TYPO_LEVELS`. `fields`: number of searched fields.
 */
export function nearnessOf(counts: readonly (readonly number[])[], fields: number): Nearness {
  const levels = counts.map((each) => each.findIndex((count) => count > 0));
  let left = MOST_NEAR_TOKENS;
  const isNear = counts.slice(1).map((behind, at) => {
    const [before, after] = [counts[at]?.[levels[at] as number], behind[levels[at + 1] as number]];
    const tokens = ((before ?? left) + (after ?? left)) * fields;
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  return { typos: levels.map((level) => TYPO_LEVELS[level] ?? NO_WORD), isNear };
}

/**
 * Returns a row's rank among the rows that all `terms` match; smaller is better. The tiers are typos, nearness of neighbouring terms,
 * weight of the attributes, exact words.
 */
export function rankInTiers(hits: RowHits, tiers: Tiers): number {
  const { terms } = tiers;
  // A loop is used because `fill` takes longer for so few entries.
  for (let term = 0; term < terms; term++) leastTypos[term] = NO_WORD;
  for (let i = 0; i < hits.count; i++) {
    const term = hits.term[i] as number;
    if ((hits.typos[i] as number) < (leastTypos[term] as number)) leastTypos[term] = hits.typos[i] as number;
  }
  for (let term = 0; term < terms; term++) {
    bestRank[term] = LAST_RANK;
    exact[term] = 0;
    lastAt[term] = NOWHERE;
    placeBefore[term] = NOWHERE;
    nearest[term] = FAR;
  }
  for (let i = 0; i < hits.count; i++) {
    // If a term matches several times in a row, the matches with the fewest typos count.
    if (hits.typos[i] === leastTypos[hits.term[i] as number]) noteHit(hits, i, tiers);
  }
  return sumTiers(terms);
}

function noteHit(hits: RowHits, i: number, { rankOfField, nearness }: Tiers): void {
  const rank = rankOfField[hits.field[i] as number] ?? LAST_RANK;
  const term = hits.term[i] as number;
  if (rank < (bestRank[term] as number)) bestRank[term] = rank;
  if (hits.isExact[i] === 1) exact[term] = 1;
  const { typos, isNear } = nearness;
  if (hits.typos[i] !== typos[term]) return;
  const position = hits.position[i] as number;
  if (position === UNPLACED) return;
  placeBefore[term] = lastAt[term] as number;
  lastAt[term] = position;
  if (isNear[term - 1] === true) noteDistance(term - 1, position - placeBelow(term - 1, position));
  // The wrong order counts as one word more.
  if (isNear[term] === true) noteDistance(term, position - placeBelow(term + 1, position) + 1);
}

/** Returns the last place of a term before a position. One word may match two terms, but it is not near to itself. */
function placeBelow(term: number, position: number): number {
  const last = lastAt[term] as number;
  return last < position ? last : (placeBefore[term] as number);
}

function noteDistance(term: number, distance: number): void {
  const near = Math.max(1, distance);
  if (near < (nearest[term] as number)) nearest[term] = near;
}

function sumTiers(terms: number): number {
  let typos = 0;
  let distance = 0;
  let rank = 0;
  let inexact = terms;
  for (let term = 0; term < terms; term++) {
    typos += leastTypos[term] === NO_WORD ? FAR : (leastTypos[term] as number);
    if (term + 1 < terms) distance += nearest[term] as number;
    rank += bestRank[term] as number;
    inexact -= exact[term] as number;
  }
  return tierRank(typos, distance, rank, inexact);
}

/** Returns the rank for sums over the terms of a query, from the most to the least important tier. */
function tierRank(typos: number, distance: number, rank: number, inexact: number): number {
  return ((typos * 1024 + distance) * 1024 + rank) * 128 + inexact;
}

/** Returns the rank of a row that one term matches. `rank`: place of its heaviest field among the weights. */
export function rankOfTerm(typos: number, rank: number, isExact: boolean): number {
  return tierRank(typos, 0, rank, isExact ? 0 : 1);
}
