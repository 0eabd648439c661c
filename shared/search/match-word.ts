import { foldWord } from './fold-word.ts';
import type { Language } from './languages.ts';
import type { JoinedWord, SearchTerm } from './search-terms.ts';
import { TOO_FAR, typoDistance } from './typo-distance.ts';

/** Kind of a word. `text` words match by their stems and with typos, `spelled` words without typos, and `keyword` words with neither. */
export type WordKind = 'text' | 'spelled' | 'keyword';

/** A word of a text in the form that queries compare. `stem` is undefined for words of keywords. */
export type IndexedWord = {
  readonly folded: string;
  readonly stem: string | undefined;
  readonly kind: WordKind;
};

/** Returns the compared form of a word, which must be in lower case. */
export function indexedWord({ stem }: Pick<Language, 'stem'>, word: string, kind: WordKind): IndexedWord {
  return { folded: foldWord(word), stem: kind === 'keyword' ? undefined : stem(word), kind };
}

/** Typos that a match may have, in ascending order. */
export const TYPO_LEVELS: readonly number[] = [0, 0.5, 1, 2];

/**
 * Quality of a match between a word of a text and a word of a query. `typos` is one of `TYPO_LEVELS`. `isExact`: the whole word was typed,
 * apart from the typos. A match by stem, beginning, synonym or part is not exact.
 */
export type WordMatch = { readonly typos: number; readonly isExact: boolean };

const EXACT: WordMatch = { typos: 0, isExact: true };
/** A match by stem, beginning or synonym. */
export const ALIKE: WordMatch = { typos: 0, isExact: false };
/** A match by a part of a compound. It counts as half a typo: after whole words, and before words with typos. */
export const AS_PART: WordMatch = { typos: 0.5, isExact: false };
const WITH_TYPOS = [1, 2].map((typos): WordMatch => ({ typos, isExact: true }));
const BEGINNING_WITH_TYPOS = [1, 2].map((typos): WordMatch => ({ typos, isExact: false }));
/** A match by two words that together form the term. */
export const AS_SPLIT: WordMatch = { typos: 1, isExact: true };

/** Returns the quality of the match between a word and a term; undefined if they do not match. */
export function matchWord(term: SearchTerm, { folded, stem, kind }: IndexedWord): WordMatch | undefined {
  if (folded === term.folded) return EXACT;
  if (stem !== undefined && stem === term.stem) return ALIKE;
  if (term.isPrefix && folded.startsWith(term.folded)) return ALIKE;
  if (term.synonyms.some((synonym) => synonym.folded === folded || synonym.stem === stem)) return ALIKE;
  if (kind !== 'keyword' && term.compounds.has(folded)) return AS_PART;
  if (kind !== 'text') return undefined;
  const typos = typosIn(term, folded, true);
  if (typos === TOO_FAR) return undefined;
  const isWhole = typosIn(term, folded, false) === typos;
  return (isWhole ? WITH_TYPOS : BEGINNING_WITH_TYPOS)[typos - 1];
}

/** Returns the typos of a word; TOO_FAR if it is another word. `isOpen`: a beginning of the word may be enough. */
function typosIn({ folded, typos, isPrefix, joined }: SearchTerm, word: string, isOpen: boolean): number {
  let fewest = typos === 0 ? TOO_FAR : typoDistance(folded, word, typos, isOpen && isPrefix);
  for (const each of joined) fewest = Math.min(fewest, joinedTypos(each, word, isOpen));
  return fewest;
}

/** Returns the typos of a word that was typed as several words, which count as one typo. */
function joinedTypos({ text, typos, isPrefix }: JoinedWord, word: string, isOpen: boolean): number {
  const more = typoDistance(text, word, typos, isOpen && isPrefix);
  return more === TOO_FAR ? TOO_FAR : 1 + more;
}
