/**
 * Positions of a query's words in one row, in the order of the row's words. Positions in different values are far apart
 * (`VALUE_GAP`). Arrays are parallel; the first `count` entries are valid.
 */
export type RowHits = {
  count: number;
  readonly position: Int32Array;
  /** Number of the term in the query. */
  readonly term: Uint8Array;
  /** Number of the field among those searched. */
  readonly field: Uint8Array;
  readonly typos: Uint8Array;
  readonly isExact: Uint8Array;
};

/** Hits of a row beyond these are passed over. */
const MOST_HITS = 65_536;
/** Words as far apart as this are not near each other. */
export const FAR = 5;
/** Positions between the last word of one value and the first of the next. */
export const VALUE_GAP = FAR + 1;
/** Position of two words that are one term: they are near to nothing. */
export const UNPLACED = -1;
/** Attribute ranks from here on are one. */
export const LAST_RANK = 15;
/**
 * Words, once for each field, that may be near to others in one query: for Elasticsearch each of them is a clause for each
 * distance, and it takes some thousands of clauses.
 */
const MOST_NEAR_TOKENS = 600;
/** Not the typos of any word. */
const NO_WORD = 255;

/** Creates arrays for the hits of one row, 65,536 at most. Set `count` to 0 to use it for the next row. */
export function createRowHits(): RowHits {
  return {
    count: 0,
    position: new Int32Array(MOST_HITS),
    term: new Uint8Array(MOST_HITS),
    field: new Uint8Array(MOST_HITS),
    typos: new Uint8Array(MOST_HITS),
    isExact: new Uint8Array(MOST_HITS),
  };
}

/**
 * Adds the match of a word with a term of the query. Positions must not fall from one call to the next. Ignores hits beyond the limit.
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

/** One entry per term: at most as many as a query may require. */
const MOST_TERMS = 64;
const leastTypos = new Uint8Array(MOST_TERMS);
const bestRank = new Uint8Array(MOST_TERMS);
const exact = new Uint8Array(MOST_TERMS);
const lastAt = new Int32Array(MOST_TERMS);
/** The place before that. */
const placeBefore = new Int32Array(MOST_TERMS);
/** Smallest distance of a term to the next. */
const nearest = new Uint8Array(MOST_TERMS);

const NOWHERE = -1_000_000;

export type Tiers = {
  /** The number of a query's terms. */
  readonly terms: number;
  /** The fields' places by weight: the heaviest are 0. */
  readonly rankOfField: readonly number[];
  readonly nearness: Nearness;
};

/** Which words of a query may be near to each other. */
export type Nearness = {
  /** By term: the typos of the words that it means, which are the fewest that any word has. */
  readonly typos: readonly number[];
  /** By term: whether it may be near to the next one. */
  readonly isNear: readonly boolean[];
};

/**
 * Returns the fewest typos of each term, and which terms may be near to the next. `counts`: by term the words that match it, by their
 * typos. `fields`: how many are searched.
 */
export function nearnessOf(counts: readonly (readonly number[])[], fields: number): Nearness {
  const typos = counts.map((each) => {
    const least = each.findIndex((count) => count > 0);
    return least < 0 ? NO_WORD : least;
  });
  let left = MOST_NEAR_TOKENS;
  const isNear = counts.slice(1).map((behind, at) => {
    const [before, after] = [counts[at]?.[typos[at] as number], behind[typos[at + 1] as number]];
    const tokens = ((before ?? left) + (after ?? left)) * fields;
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  return { typos, isNear };
}

/**
 * A row's rank among those that all of `terms` match; smaller is better. Tiers: typos, nearness of neighbouring terms, weight of
 * the attributes, exact words.
 */
export function rankInTiers(hits: RowHits, tiers: Tiers): number {
  const { terms } = tiers;
  // A loop: `fill` takes longer for so few.
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
    // Among several matches of a term in a row those with the fewest typos count.
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
  // In the wrong order is one further away.
  if (isNear[term] === true) noteDistance(term, position - placeBelow(term + 1, position) + 1);
}

/** Where a term stood last, before a position: one word may be two terms, but is not near to itself. */
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
  return tierRank({ typos, distance, rank, inexact });
}

/** Sums over the terms of a query, from the heaviest to the lightest. */
type TierSums = {
  readonly typos: number;
  readonly distance: number;
  readonly rank: number;
  readonly inexact: number;
};

function tierRank({ typos, distance, rank, inexact }: TierSums): number {
  return ((typos * 1024 + distance) * 1024 + rank) * 128 + inexact;
}

/** Returns the rank of a row that one term matches. `rank`: the place of its heaviest field among the weights. */
export function rankOfTerm({
  typos,
  rank,
  isExact,
}: Pick<TierSums, 'typos' | 'rank'> & { readonly isExact: boolean }): number {
  return tierRank({ typos, distance: 0, rank, inexact: isExact ? 0 : 1 });
}
