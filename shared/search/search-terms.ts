import { foldWord } from './fold-word.ts';
import type { Language } from './languages.ts';
import { splitWords } from './split-words.ts';
import type { Synonyms } from './synonyms.ts';
import { typosAllowed } from './typo-distance.ts';

/** A word of a query, as it is compared with the words of texts. */
export type SearchTerm = {
  /** As typed, in lower case. */
  readonly typed: string;
  readonly folded: string;
  readonly stem: string;
  /** Matches longer words too: the last word of the query, with nothing behind it. */
  readonly isPrefix: boolean;
  readonly typos: number;
  readonly mayHaveTypos: boolean;
  /** Folded words that count as this one. */
  readonly synonyms: readonly string[];
  /** Its place among the words that were typed, stop words included. */
  readonly place: number;
  /** How often it was typed. */
  readonly count: number;
};

/** `all`: every term has to match, `any`: one of them. */
export type SearchMode = 'all' | 'any';

/** Terms of a query for texts in one language. */
export type SearchTerms = { readonly mode: SearchMode; readonly terms: readonly SearchTerm[] };

export type TermRules = {
  readonly language: Language;
  readonly typoTolerance: boolean;
  readonly synonyms?: Synonyms;
};

/** A query with more words than this is a question: any of them may match. */
const MOST_REQUIRED = 4;
const MOST_TYPOS = 2;
/** Shorter words are not guessed: too many others are like them. */
const SHORTEST_GUESSED = 4;
/** Words of a query that are looked for; the others are passed over. */
export const MOST_TERMS = 64;

/** The words of a query without stop words, unless it has nothing else. */
export function searchTerms(query: string, rules: TermRules): SearchTerms {
  return termsOf(typedTerms(query, rules), rules);
}

/** The words of a query in order, stop words included. */
export function typedTerms(query: string, rules: TermRules): readonly SearchTerm[] {
  const { language, typoTolerance } = rules;
  const words = splitWords(query, language.locale);
  const last = words.at(-1);
  const isOpen = last !== undefined && last.end === query.length;
  return words.map(({ word }, place): SearchTerm => {
    const folded = foldWord(word);
    return {
      typed: word,
      folded,
      stem: language.stem(word),
      place,
      count: 1,
      isPrefix: isOpen && place === words.length - 1,
      mayHaveTypos: typoTolerance,
      typos: typoTolerance ? typosAllowed(folded) : 0,
      synonyms: rules.synonyms?.words.get(folded) ?? [],
    };
  });
}

/** Returns what the typed words search for. */
export function termsOf(typed: readonly SearchTerm[], rules: TermRules): SearchTerms {
  const kept = withoutStopWords(typed, rules);
  const mode = kept.length > MOST_REQUIRED ? 'any' : 'all';
  return { mode, terms: (mode === 'any' ? countRepeated(kept) : joinNeighbours(kept)).slice(0, MOST_TERMS) };
}

/** Removes stop words, unless nothing else is there. */
export function withoutStopWords(
  terms: readonly SearchTerm[],
  { language }: TermRules,
): readonly SearchTerm[] {
  const meant = terms.filter(({ folded, isPrefix }) => isPrefix || !language.stopWords.has(folded));
  return meant.length === 0 ? terms : meant;
}

/** Adds the words that neighbours make together: `pizza roma` finds `pizzaroma`. */
export function joinNeighbours(terms: readonly SearchTerm[]): readonly SearchTerm[] {
  return terms.map((term, at) => {
    if (!term.mayHaveTypos) return term;
    const [before, behind] = [terms[at - 1], terms[at + 1]];
    const joined: string[] = [];
    if (before?.place === term.place - 1 && before.mayHaveTypos) joined.push(before.folded + term.folded);
    if (behind?.place === term.place + 1 && behind.mayHaveTypos) joined.push(term.folded + behind.folded);
    return joined.length === 0 ? term : { ...term, synonyms: [...term.synonyms, ...joined] };
  });
}

/** A word that no text has, with one more typo. undefined: it has as many as it may have. */
export function allowAnotherTypo(term: SearchTerm): SearchTerm | undefined {
  return term.mayHaveTypos && term.typos < MOST_TYPOS && term.folded.length >= SHORTEST_GUESSED
    ? { ...term, typos: term.typos + 1 }
    : undefined;
}

/** Returns each word once, with its number of occurrences. */
export function countRepeated(terms: readonly SearchTerm[]): SearchTerm[] {
  const found = new Map<string, SearchTerm>();
  for (const term of terms) {
    const known = found.get(term.stem);
    found.set(term.stem, known === undefined ? term : { ...known, count: known.count + 1 });
  }
  return [...found.values()];
}
