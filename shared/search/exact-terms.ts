import type { Language } from './languages.ts';
import { NO_COMPOUNDS, type SearchTerm } from './search-terms.ts';

/** Returns terms for the words that a term is split into or replaced by, each matched exactly. */
export function exactTerms(
  term: SearchTerm,
  words: readonly string[],
  language: Language,
): readonly SearchTerm[] {
  return words.map((folded) => ({
    ...term,
    folded,
    stem: language.stem(folded),
    isPrefix: false,
    typos: 0,
    mayHaveTypos: false,
    synonyms: [],
    joined: [],
    splits: [],
    compounds: NO_COMPOUNDS,
  }));
}
