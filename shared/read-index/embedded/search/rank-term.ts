import { TYPO_LEVELS } from '../../../search/match-word.ts';
import { LAST_RANK, rankOfTerm } from '../../../search/rank-hits.ts';
import { andBits, andNotBits, type Bits, countBits, orBits } from '../lists/bits.ts';
import { borrowBits } from '../rows/row-set.ts';
import type { TextIndex } from '../words/text-index.ts';
import { createRows, type LocaleSearch, type LocaleTerm } from './locale-search.ts';

/** Rows that have the same rank. */
export type RankGroup = { readonly rank: number; readonly rows: Bits; readonly count: number };

/**
 * Returns the rows of the next rank, from the best rank on; undefined after the last. If a call ends with its slice, the next call
 * continues.
 */
export type RankGroups = () => RankGroup | undefined;

/**
 * Groups the rows in `matched`, which `searches` found, by the ranks that `createRanking` would give. The first letters of a word match
 * most rows, and a page shows only the best ones. The postings of the term's words are enough to find these, so no row is read. Returns
 * undefined if ranks need the words of each row. Ranks need them for several terms, which may be near each other, and for questions, which
 * BM25 ranks.
 */
export function createRankGroups(
  index: TextIndex,
  searches: readonly LocaleSearch[],
  matched: Bits,
): RankGroups | undefined {
  const asked = searches.filter(({ terms }) => terms.length > 0);
  const isSimple = asked.length > 0 && asked.every(hasOneTerm);
  // With synonyms a text has several searches. A row then counts with its best one.
  if (!isSimple || new Set(asked.map(({ text }) => text)).size < asked.length) return undefined;
  const ranks = new Set(index.fields.map(({ rank }) => Math.min(rank, LAST_RANK)).sort((a, b) => a - b));
  const levels: Level[] = [];
  for (const typos of TYPO_LEVELS) for (const rank of ranks) levels.push({ typos, rank });
  const left = borrowBits(index.rowSet);
  orBits(left, matched);
  const found: RankGroup[] = [];
  let next = 0;
  let split: (() => readonly RankGroup[]) | undefined;
  return () => {
    while (found.length === 0 && next < levels.length) {
      split ??= createSplit(index, asked, levels[next] as Level, left);
      found.push(...split());
      split = undefined;
      next++;
    }
    return found.shift();
  };
}

function hasOneTerm({ mode, terms }: LocaleSearch): boolean {
  return mode === 'all' && terms.length === 1 && terms[0]?.pairs.length === 0;
}

/** A level of rows: their best word has this number of typos, in a field of this weight. */
type Level = { readonly typos: number; readonly rank: number };

/** Takes the rows of a level out of `left`. Rows that have the term itself in any field come first. */
function createSplit(
  index: TextIndex,
  asked: readonly LocaleSearch[],
  { typos, rank }: Level,
  left: Bits,
): () => readonly RankGroup[] {
  const isOfRank = index.fields.map((field) => Math.min(field.rank, LAST_RANK) === rank);
  const collect = createUnion(index, asked, isOfRank, ({ matches }, at) => matches[at]?.typos === typos);
  const isExact = ({ matches }: Expansion, at: number) => matches[at]?.typos === typos && matches[at].isExact;
  const everywhere = index.fields.map(() => true);
  const collectExact = createUnion(index, asked, everywhere, isExact);
  return () => {
    const rows = collect();
    const exact = collectExact();
    andBits(rows, left);
    andNotBits(left, rows);
    andBits(exact, rows);
    andNotBits(rows, exact);
    const groups = [
      { rank: rankOfTerm(typos, rank, true), rows: exact, count: countBits(exact) },
      { rank: rankOfTerm(typos, rank, false), rows, count: countBits(rows) },
    ];
    return groups.filter(({ count }) => count > 0);
  };
}

type Expansion = LocaleTerm['expansion'];

/** Collects the rows that have one of the chosen words of a term, in a field that is both searched and wanted. */
function createUnion(
  index: TextIndex,
  asked: readonly LocaleSearch[],
  isWanted: readonly boolean[],
  isChosen: (expansion: Expansion, at: number) => boolean,
): () => Bits {
  const parts = asked.map(({ text, terms, isSearched }) => {
    const { expansion } = terms[0] as LocaleTerm;
    const words = expansion.words.filter((_, at) => isChosen(expansion, at));
    const isMeant = isSearched.map((searched, field) => searched && isWanted[field] === true);
    const collect = createRows(index, text, isMeant);
    return () => collect(words);
  });
  return () => {
    // If a slice ends here, finished parts are not computed again.
    const [first, ...others] = parts.map((part) => part());
    const rows = first as Bits;
    for (const other of others) orBits(rows, other);
    return rows;
  };
}
