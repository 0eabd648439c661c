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
  /** Words that it and its neighbours make together. */
  readonly joined: readonly JoinedWord[];
  /** Pairs of words that count as it where one follows the other. */
  readonly splits: readonly Split[];
  /** Its place among the words that were typed, stop words included. */
  readonly place: number;
  /** How often it was typed. */
  readonly count: number;
};

/** Several typed words as one, which may have so many typos. */
export type JoinedWord = { readonly text: string; readonly typos: number; readonly isPrefix: boolean };

/** Two words that may have been typed as one. */
export type Split = readonly [string, string];

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
      joined: [],
      splits: [],
    };
  });
}

/** Returns what the typed words search for. */
export function termsOf(typed: readonly SearchTerm[], rules: TermRules): SearchTerms {
  const kept = withoutStopWords(typed, rules);
  const mode = kept.length > MOST_REQUIRED ? 'any' : 'all';
  return { mode, terms: (mode === 'any' ? countRepeated(kept) : joinAndSplit(kept)).slice(0, MOST_TERMS) };
}

/** Removes stop words, unless nothing else is there. */
export function withoutStopWords(
  terms: readonly SearchTerm[],
  { language }: TermRules,
): readonly SearchTerm[] {
  const meant = terms.filter(({ folded, isPrefix }) => isPrefix || !language.stopWords.has(folded));
  return meant.length === 0 ? terms : meant;
}

/** Adds the words that neighbours make together, and the pairs that words may be: `sun flower` finds `sunflower`, and the reverse. */
export function joinAndSplit(terms: readonly SearchTerm[]): readonly SearchTerm[] {
  const joined = terms.map((): JoinedWord[] => []);
  for (let size = 2; size <= MOST_JOINED; size++) {
    for (let at = 0; at + size <= terms.length; at++) {
      const neighbours = terms.slice(at, at + size);
      const word = joinWords(neighbours);
      if (word !== undefined) for (let i = at; i < at + size; i++) joined[i]?.push(word);
    }
  }
  return terms.map((term, at) => ({ ...term, joined: joined[at] ?? [], splits: splitsOf(term) }));
}

/** Words that are joined at the most. */
const MOST_JOINED = 3;

/** undefined: a stop word was between the words, or they are to match as they are. Each joint is a typo. */
function joinWords(terms: readonly SearchTerm[]): JoinedWord | undefined {
  const [first] = terms;
  if (first === undefined || !terms.every(({ mayHaveTypos }) => mayHaveTypos)) return undefined;
  if (!terms.every(({ place }, at) => place === first.place + at)) return undefined;
  const text = terms.map(({ folded }) => folded).join('');
  const typos = Math.max(0, typosAllowed(text) - (terms.length - 1));
  return { text, typos, isPrefix: terms.some(({ isPrefix }) => isPrefix) };
}

/** Shorter parts do not count as words. */
const SHORTEST_PART = 2;
/** Longer words are not split. */
const LONGEST_SPLIT = 40;

/** Returns the ways to split a word in two, the most even one first. */
export function splitsOf({ folded, mayHaveTypos }: SearchTerm): readonly Split[] {
  const last = folded.length - SHORTEST_PART;
  if (!mayHaveTypos || folded.length > LONGEST_SPLIT || last < SHORTEST_PART) return [];
  const places = Array.from({ length: last - SHORTEST_PART + 1 }, (_, at) => at + SHORTEST_PART);
  const unevenness = (at: number) => Math.abs(folded.length - 2 * at);
  return places
    .sort((a, b) => unevenness(a) - unevenness(b) || a - b)
    .map((at) => [folded.slice(0, at), folded.slice(at)]);
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
