import type { Language } from './languages.ts';
import type { SearchTerm, Split } from './search-terms.ts';

/** Returns the terms of a split of a question's word, each matched exactly. */
export function splitTerm(term: SearchTerm, split: Split, language: Language): readonly SearchTerm[] {
  return split.map((folded) => ({
    ...term,
    ...AS_IT_STANDS,
    folded,
    stem: language.stem(folded),
  }));
}

/** Members of a term that words match exactly. */
export const AS_IT_STANDS = {
  isPrefix: false,
  typos: 0,
  mayHaveTypos: false,
  synonyms: [],
  joined: [],
  splits: [],
} as const;
