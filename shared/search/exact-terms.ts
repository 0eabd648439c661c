import type { Language } from './languages.ts';
import { NO_COMPOUNDS, type SearchTerm } from './search-terms.ts';
import type { SynonymWord } from './synonyms.ts';

/** Returns terms for the words that a term is split into or replaced by, each matched without typos. */
export function exactTerms(term: SearchTerm, words: readonly SynonymWord[]): readonly SearchTerm[] {
  return words.map(({ folded, stem }) => ({
    ...term,
    folded,
    stem,
    isPrefix: false,
    typos: 0,
    mayHaveTypos: false,
    synonyms: [],
    joined: [],
    splits: [],
    compounds: NO_COMPOUNDS,
  }));
}

/** Returns terms for the folded words that a term is split into. */
export function splitTerms(
  term: SearchTerm,
  words: readonly string[],
  { stem }: Language,
): readonly SearchTerm[] {
  return exactTerms(
    term,
    words.map((folded) => ({ folded, stem: stem(folded) })),
  );
}
