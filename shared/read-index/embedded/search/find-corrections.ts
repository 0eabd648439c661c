import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { type CorrectionWord, mostFrequentWord, reportOf, type TextSearchReport } from '../../text-search.ts';
import { type Bits, setBit } from '../lists/bits.ts';
import { countRows } from '../lists/postings.ts';
import type { TextIndex } from '../words/text-index.ts';
import type { KnownWord } from '../words/vocabulary.ts';
import { countRowsOf } from './count-word.ts';
import type { LocaleSearch, LocaleTerm } from './locale-search.ts';
import type { RankedRows } from './rank-rows.ts';
import { createRankGroups } from './rank-term.ts';
import type { FoundTexts } from './search-texts.ts';

/** Cost of counting the rows of a word, in steps of a slice. */
const WORD_STEPS = 20;

/**
 * Creates the report on a search. A word is corrected if no row has it. The correction is a word of the best rows. `rank` ranks the found
 * rows; without it no word is corrected. If a call ends with its slice, the next call continues.
 */
export function createTextReport(
  index: TextIndex,
  texts: FoundTexts,
  rank: (() => RankedRows) | undefined,
): () => TextSearchReport {
  const { searches } = texts;
  const corrected = new Set(
    searches.flatMap((search) => search.terms.filter((term) => isCorrected(search, term))),
  );
  if (rank === undefined || corrected.size === 0)
    return () => reportOf(searches.map((search) => readingOf(search, () => undefined)));
  const createBest = createBestRows(index, texts, rank);
  const corrections = new Map<LocaleTerm, string | undefined>();
  let find: (() => unknown) | undefined;
  return () => {
    const best = createBest();
    find ??= createSequence(
      searches.flatMap((search) =>
        search.terms
          .filter((term) => corrected.has(term))
          .map((term) =>
            createCorrection(index, search, term, { best, note: (word) => corrections.set(term, word) }),
          ),
      ),
    );
    find();
    return reportOf(searches.map((search) => readingOf(search, (term) => corrections.get(term))));
  };
}

function readingOf({ text, terms }: LocaleSearch, correctionOf: (term: LocaleTerm) => string | undefined) {
  return {
    locale: text.locale,
    terms: terms.map((each) => ({ term: each.term, correction: correctionOf(each) })),
  };
}

/** Returns whether rows have only words with typos for a term. */
function isCorrected({ text, isSearched }: LocaleSearch, { expansion }: LocaleTerm): boolean {
  let isFound = false;
  for (const [at, word] of expansion.words.entries()) {
    if (countRows(text.postings, isSearched, word) === 0) continue;
    if ((expansion.matches[at]?.typos ?? 0) < 1) return false;
    isFound = true;
  }
  return isFound;
}

/** Finds the rows with the best rank. All rows of a question count, because the engines score these differently. */
function createBestRows(
  index: TextIndex,
  { searches, matched }: FoundTexts,
  rank: () => RankedRows,
): () => Bits {
  if (searches.some(({ mode }) => mode === 'any')) return () => matched;
  const groups = createRankGroups(index, searches, matched);
  let best: Bits | undefined;
  return () => {
    best ??= groups === undefined ? bestOf(rank(), matched.length) : (groups()?.rows ?? new Int32Array(0));
    return best;
  };
}

function bestOf({ rows, ranks }: RankedRows, length: number): Bits {
  let least = Number.POSITIVE_INFINITY;
  for (const rank of ranks) least = Math.min(least, rank);
  const best = new Int32Array(length);
  for (const [at, row] of rows.entries()) if (ranks[at] === least) setBit(best, row);
  return best;
}

/** Finds the word of the best rows that replaces a term. */
function createCorrection(
  { rowSet }: TextIndex,
  search: LocaleSearch,
  { expansion }: LocaleTerm,
  { best, note }: { readonly best: Bits; readonly note: (word: string | undefined) => void },
): () => void {
  const counted: CorrectionWord[] = [];
  let next = 0;
  return () => {
    while (next < expansion.words.length) {
      const [number, match] = [expansion.words[next] as number, expansion.matches[next]];
      const { key } = search.text.vocabulary.words[number] as KnownWord;
      if (match !== undefined)
        counted.push({ key, match, rows: countRowsOf(rowSet, search, [number], best) });
      next++;
      rest(WORD_STEPS);
    }
    note(mostFrequentWord(counted));
  };
}
