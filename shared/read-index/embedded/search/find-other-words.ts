import { addToList, valueAt } from '../../../map-values.ts';
import { completeTerms, type SearchTerm, similarTerm, typosOfOther } from '../../../search/search-terms.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { chosenWords, type OtherWord, type OtherWords, type WordsRequest } from '../../text-search.ts';
import { andBits, type Bits, countBits, orBits } from '../lists/bits.ts';
import { borrowBits, type RowSetIndex, releaseBits } from '../rows/row-set.ts';
import { createExpansion } from '../words/expand-term.ts';
import type { TextIndex } from '../words/text-index.ts';
import { type Expansion, type KnownWord, shownWord, type Vocabulary } from '../words/vocabulary.ts';
import { countRowsOf } from './count-word.ts';
import { createLocaleTerm, type LocaleSearch, type LocaleTerm } from './locale-search.ts';

/** Cost of a word, in steps of a slice. */
const WORD_STEPS = 10;

/** A search by words, and the rows within which it finds others. */
type Asked = { readonly searches: readonly LocaleSearch[]; readonly within: Bits };

/**
 * Finds words in place of words of a query. Only rows among `within` and words of searched fields count. If a call ends with its slice, the
 * next call continues.
 */
export function createOtherWords(
  index: TextIndex,
  { searches, within }: Asked,
  request: WordsRequest,
): () => readonly OtherWords[] {
  // The first search of a locale has the words as they were typed, without synonyms.
  const typed = [...Map.groupBy(searches, ({ text }) => text).values()].flatMap(([first]) => first ?? []);
  const meant =
    request.kind === 'similar'
      ? createSequence(typed.map((search) => createComplete(index, search)))
      : () => typed;
  let find: (() => readonly OtherWords[]) | undefined;
  return () => {
    const asked = { searches: meant(), within };
    find ??= createSequence(
      placesOf(asked.searches, request).map((place) => createOthersAt(index, asked, place, request)),
    );
    return find();
  };
}

/** Returns the places of the words that are replaced. */
function placesOf(searches: readonly LocaleSearch[], { kind }: WordsRequest): readonly number[] {
  const places = new Set(searches.flatMap(({ terms }) => terms.map(({ term }) => term.place)));
  return kind === 'similar' ? [...places].sort((a, b) => a - b) : [Math.max(...places)];
}

/** Creates the search as if a space followed the last word. */
function createComplete(index: TextIndex, search: LocaleSearch): () => LocaleSearch {
  const { text, isSearched } = search;
  const terms = completeTerms(
    search.terms.map(({ term }) => term),
    text.vocabulary,
  );
  const find = createSequence(
    terms.map((term) => {
      const known = search.terms.find((each) => each.term === term);
      if (known !== undefined) return () => [known];
      const create = createLocaleTerm(index, text, isSearched, term);
      const similar = similarTerm(term);
      // The words that resemble the term include its own. One walk finds both.
      const expand = similar && createExpansion(text.vocabulary, similar);
      return () => {
        expand?.();
        return create();
      };
    }),
  );
  return () => ({ ...search, terms: find().flat() });
}

function createOthersAt(
  { rowSet }: TextIndex,
  { searches, within }: Asked,
  place: number,
  request: WordsRequest,
): () => OtherWords {
  const counted: OtherWord[] = [];
  let rows = 0;
  const count = createSequence(
    searches.map((search) => {
      const others = search.terms.filter(({ term }) => term.place !== place);
      const having = rowsWith(rowSet, { ...search, terms: others }, within);
      const number = countBits(having);
      if (others.length > 0) rows += number;
      const replaced = search.terms.find(({ term }) => term.place === place);
      if (replaced !== undefined && number > 0)
        return createCounts(rowSet, { search, replaced, having }, request, counted);
      releaseBits(rowSet, having);
      return () => {};
    }),
  );
  return () => {
    count();
    return { place, rows, words: chosenWords(counted, request) };
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

/** A word of a query in one locale, and the rows that have the others. */
type ReplacedWord = { readonly search: LocaleSearch; readonly replaced: LocaleTerm; readonly having: Bits };

function createCounts(
  rowSet: RowSetIndex,
  { search, replaced, having }: ReplacedWord,
  { kind }: WordsRequest,
  counted: OtherWord[],
): () => void {
  const { vocabulary } = search.text;
  const meant = kind === 'similar' ? similarTerm(replaced.term) : replaced.term;
  if (meant === undefined || (kind === 'completed' && !meant.isPrefix)) return () => {};
  const expand = kind === 'similar' ? createExpansion(vocabulary, meant) : () => replaced.expansion;
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
