import type { CompoundRules } from '../../../search/compound-rules.ts';
import {
  formsOfPart,
  mayBeNeighbour,
  type PartForm,
  partIn,
  possibleCompounds,
  rootOfPart,
  type WordPart,
} from '../../../search/compounds.ts';
import type { SearchTerm } from '../../../search/search-terms.ts';
import { rest } from '../../../turns/slice.ts';
import { countRows } from '../lists/postings.ts';
import type { LocaleText } from '../words/locale-text.ts';
import { longWordsWith } from '../words/long-words.ts';
import { type Vocabulary, wordsFolded, wordsOfStem } from '../words/vocabulary.ts';

/** Cost of comparing a word with a term, in steps of a slice. */
const WORD_STEPS = 10;
/**
 * Adds to a term the words that have it as a part. Only words of the searched fields count, also next to the part, because the result must not
 * reveal a word that only other fields have. If a call ends with its slice, the next call continues.
 */
export function createCompounds(
  { vocabulary, postings }: LocaleText,
  isSearched: readonly boolean[],
  rules: CompoundRules | undefined,
  term: SearchTerm,
): () => SearchTerm {
  const root = rules === undefined ? undefined : rootOfPart(term);
  if (rules === undefined || root === undefined || isStopWord(vocabulary, term)) return () => term;
  const known = new Map<string, boolean>();
  const isKnown = (text: string): boolean => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = [...wordsFolded(vocabulary, text), ...wordsOfStem(vocabulary, text)].some(
      (number) => isPlainWord(vocabulary, number) && countRows(postings, isSearched, number) > 0,
    );
    known.set(text, found);
    return found;
  };
  const compounds = new Map<string, WordPart>();
  let forms: readonly PartForm[] | undefined;
  let words: readonly string[] | undefined;
  let next = 0;
  return () => {
    forms ??= formsOfPart(term, wordsAlike(vocabulary, term));
    if (words === undefined) {
      const long = longWordsWith(vocabulary.longWords, vocabulary.words, root);
      // Before the limit of possible words: words of other fields must not take the place of others.
      const searched = long.filter((word) =>
        wordsFolded(vocabulary, word).some((number) => countRows(postings, isSearched, number) > 0),
      );
      words = possibleCompounds(searched, forms, rules);
      rest(1 + long.length);
    }
    while (next < words.length) {
      const word = words[next++] as string;
      const part = partIn(word, forms, rules, isKnown);
      if (part !== undefined) compounds.set(word, part);
      rest(WORD_STEPS);
    }
    return compounds.size === 0 ? term : { ...term, compounds };
  };
}

function isStopWord({ language }: Vocabulary, { folded }: SearchTerm): boolean {
  return language.stopWords.has(folded);
}

/** Returns whether a word may be next to a part: short stop words and words of keywords may not. */
function isPlainWord({ words }: Vocabulary, number: number): boolean {
  const word = words[number];
  if (word === undefined || word.kind === 'keyword') return false;
  return !word.isStopWord || mayBeNeighbour(word.folded);
}

/** Returns the folded words that have the stem of a term. */
function wordsAlike(vocabulary: Vocabulary, { stem }: SearchTerm): readonly string[] {
  return wordsOfStem(vocabulary, stem).flatMap((number) => vocabulary.words[number]?.folded ?? []);
}
