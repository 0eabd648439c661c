import { andBits, type Bits, countBits } from '../lists/bits.ts';
import { collectPosting, countWithin, postingCount } from '../lists/postings.ts';
import { borrowBits, type RowSetIndex, releaseBits } from '../rows/row-set.ts';
import type { LocaleSearch } from './locale-search.ts';

/** Returns the number of rows among `within` that have one of some words in a searched field. */
export function countRowsOf(
  rowSet: RowSetIndex,
  { text, isSearched }: LocaleSearch,
  words: readonly number[],
  within: Bits,
): number {
  const having = words.flatMap((word) =>
    text.postings.flatMap((posting, field) =>
      isSearched[field] === true && postingCount(posting, word) > 0 ? [{ posting, word }] : [],
    ),
  );
  const [only] = having;
  if (only === undefined) return 0;
  if (having.length === 1) return countWithin(only.posting, only.word, within);
  const rows = borrowBits(rowSet);
  for (const { posting, word } of having) collectPosting(posting, word, rows);
  andBits(rows, within);
  const count = countBits(rows);
  releaseBits(rowSet, rows);
  return count;
}
