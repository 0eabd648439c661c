import type { Language } from './languages.ts';
import type { SearchTerm } from './search-terms.ts';

/** Shorter parts do not count as words. */
const SHORTEST_PART = 2;
/** Longer words are not split. */
const LONGEST = 40;

/** Two words that may have been typed as one. */
export type Split = readonly [string, string];

/** Returns the ways to split a word that no text has, the most even one first. */
export function splitsOf({ folded, mayHaveTypos }: SearchTerm): readonly Split[] {
  const last = folded.length - SHORTEST_PART;
  if (!mayHaveTypos || folded.length > LONGEST || last < SHORTEST_PART) return [];
  const places = Array.from({ length: last - SHORTEST_PART + 1 }, (_, at) => at + SHORTEST_PART);
  const unevenness = (at: number) => Math.abs(folded.length - 2 * at);
  return places
    .sort((a, b) => unevenness(a) - unevenness(b) || a - b)
    .map((at) => [folded.slice(0, at), folded.slice(at)]);
}

/** Returns the terms of a split, each matched exactly. */
export function splitTerm(term: SearchTerm, split: Split, language: Language): readonly SearchTerm[] {
  return split.map((folded) => ({
    ...term,
    ...AS_IT_STANDS,
    folded,
    stem: language.stem(folded),
  }));
}

const AS_IT_STANDS = { isPrefix: false, typos: 0, mayHaveTypos: false, synonyms: [] } as const;
