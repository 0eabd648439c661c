import type { SearchTerm } from '../../../search/search-terms.ts';
import { rest } from '../../../turns/slice.ts';
import { andBits, type Bits, decodeRows, hasBit, STRETCH, setBit } from '../lists/bits.ts';
import { collectPosting } from '../lists/postings.ts';
import { listCount } from '../lists/row-lists.ts';
import { borrowBits, releaseBits } from '../rows/row-set.ts';
import type { LocaleText } from './locale-text.ts';
import type { TextIndex } from './text-index.ts';
import { type Vocabulary, wordsFolded } from './vocabulary.ts';

/** Words that together count as a term, if a word of `second` follows one of `first`. */
export type KnownPair = { readonly first: ReadonlySet<number>; readonly second: ReadonlySet<number> };

/** Returns the pairs of a vocabulary's words into which a term may be split. */
export function knownPairs(vocabulary: Vocabulary, { splits }: SearchTerm): readonly KnownPair[] {
  const wordsOf = (folded: string) =>
    new Set(wordsFolded(vocabulary, folded).filter((word) => vocabulary.words[word]?.kind === 'text'));
  return splits
    .map(([first, second]) => ({ first: wordsOf(first), second: wordsOf(second) }))
    .filter(({ first, second }) => first.size > 0 && second.size > 0);
}

/** Adds the rows that have a pair. If a call ends with its slice, the next call continues. */
export function createPairRows(
  index: TextIndex,
  { postings }: LocaleText,
  isSearched: readonly boolean[],
  pair: KnownPair,
): (into: Bits) => void {
  let possible: Bits | undefined;
  let word = 0;
  let inStretch = 0;
  return (into) => {
    possible ??= rowsWithBoth(index, postings, isSearched, pair);
    for (; word < possible.length; word += STRETCH, inStretch = 0) {
      const decoded = decodeRows(possible, word);
      while (inStretch < decoded.count) {
        const row = decoded.rows[inStretch++] as number;
        if (!hasBit(into, row) && hasPair(index, isSearched, row, pair)) setBit(into, row);
        rest(listCount(index.tokens, row));
      }
    }
    releaseBits(index.rowSet, possible);
  };
}

/** Returns the rows that have a word of `first` and one of `second`, in any of the searched fields. */
function rowsWithBoth(
  { rowSet }: TextIndex,
  postings: LocaleText['postings'],
  isSearched: readonly boolean[],
  { first, second }: KnownPair,
): Bits {
  const [before, behind] = [borrowBits(rowSet), borrowBits(rowSet)];
  for (const [field, posting] of postings.entries()) {
    if (isSearched[field] !== true) continue;
    for (const word of first) collectPosting(posting, word, before);
    for (const word of second) collectPosting(posting, word, behind);
  }
  andBits(before, behind);
  releaseBits(rowSet, behind);
  return before;
}

function hasPair(
  { tokens }: TextIndex,
  isSearched: readonly boolean[],
  row: number,
  { first, second }: KnownPair,
): boolean {
  const { pool, heads } = tokens;
  const head = heads[row] as number;
  const end = head + listCount(tokens, row);
  let isWanted = false;
  let isFirst = false;
  for (let next = head; next < end; next++) {
    const token = pool[next] as number;
    if (token < 0) {
      isWanted = isSearched[-1 - token] === true;
      isFirst = false;
      continue;
    }
    if (isFirst && second.has(token)) return true;
    isFirst = isWanted && first.has(token);
  }
  return false;
}
