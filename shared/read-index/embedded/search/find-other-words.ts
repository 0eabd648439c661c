import { addToList, valueAt } from '../../../map-values.ts';
import { type SearchTerm, similarTerm, typosOfOther } from '../../../search/search-terms.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { chosenWords, type OtherWord, type OtherWords, type WordsRequest } from '../../text-search.ts';
import { andBits, type Bits, countBits, orBits } from '../lists/bits.ts';
import { borrowBits, type RowSetIndex } from '../rows/row-set.ts';
import { createExpansion } from '../words/expand-term.ts';
import type { TextIndex } from '../words/text-index.ts';
import { type Expansion, type KnownWord, shownWord, type Vocabulary } from '../words/vocabulary.ts';
import { countRowsOf } from './count-word.ts';
import type { LocaleSearch, LocaleTerm } from './locale-search.ts';

/** Cost of a word, in steps of a slice. */
const WORD_STEPS = 10;

/**
 * Finds words in place of the last word of a query. Only rows among `within` and words of searched fields count. If a call ends with its
 * slice, the next call continues.
 */
export function createOtherWords(
  { rowSet }: TextIndex,
  searches: readonly LocaleSearch[],
  within: Bits,
  request: WordsRequest,
): () => OtherWords {
  // The first search of a locale has the words as they were typed, without synonyms.
  const typed = [...Map.groupBy(searches, ({ text }) => text).values()].flatMap(([first]) => first ?? []);
  const counted: OtherWord[] = [];
  let rows = 0;
  const find = createSequence(
    typed.map((search) => {
      const place = Math.max(...search.terms.map(({ term }) => term.place));
      const others = search.terms.filter(({ term }) => term.place < place);
      const having = rowsWith(rowSet, { ...search, terms: others }, within);
      if (others.length > 0) rows += countBits(having);
      const [last] = search.terms.filter(({ term }) => term.place === place);
      return last === undefined ? () => {} : createCounts(rowSet, { search, last, having }, request, counted);
    }),
  );
  return () => {
    find();
    return { rows, words: chosenWords(counted, request) };
  };
}

/** Returns the rows that match all terms; of a question, the rows that match one of them. */
function rowsWith(rowSet: RowSetIndex, { mode, terms }: LocaleSearch, within: Bits): Bits {
  const rows = borrowBits(rowSet);
  if (mode === 'all' || terms.length === 0) {
    orBits(rows, within);
    for (const term of terms) andBits(rows, term.rows);
    return rows;
  }
  for (const term of terms) orBits(rows, term.rows);
  andBits(rows, within);
  return rows;
}

/** The last word of a query in one locale, and the rows that have the others. */
type LastWord = { readonly search: LocaleSearch; readonly last: LocaleTerm; readonly having: Bits };

function createCounts(
  rowSet: RowSetIndex,
  { search, last, having }: LastWord,
  { kind }: WordsRequest,
  counted: OtherWord[],
): () => void {
  const { vocabulary } = search.text;
  const meant = kind === 'similar' ? similarTerm(last.term) : last.term;
  if (meant === undefined || (kind === 'completed' && !meant.isPrefix)) return () => {};
  const expand = kind === 'similar' ? createExpansion(vocabulary, meant) : () => last.expansion;
  let candidates: readonly Candidate[] | undefined;
  let next = 0;
  return () => {
    candidates ??= candidatesIn(vocabulary, meant, kind, expand());
    while (next < candidates.length) {
      const { word, typos, numbers } = candidates[next++] as Candidate;
      counted.push({ word, typos, rows: countRowsOf(rowSet, search, numbers, having) });
      rest(WORD_STEPS);
    }
  };
}

/** A word as it is shown, and the words of the vocabulary that are written so. */
type Candidate = { readonly word: string; readonly typos: number; readonly numbers: readonly number[] };

function candidatesIn(
  vocabulary: Vocabulary,
  term: SearchTerm,
  kind: WordsRequest['kind'],
  { words, matches }: Expansion,
): readonly Candidate[] {
  const numbers = new Map<string, number[]>();
  const typosOf = new Map<string, number>();
  for (const [at, number] of words.entries()) {
    const known = vocabulary.words[number] as KnownWord;
    const typos = typosOfOther(term, kind, known, matches[at] ?? { typos: 0 });
    if (typos === undefined) continue;
    const word = shownWord(known);
    addToList(numbers, word, number);
    valueAt(typosOf, word, () => typos);
  }
  return [...numbers].map(([word, each]) => ({ word, typos: typosOf.get(word) ?? 0, numbers: each }));
}
