import type { WordPart } from './compounds.ts';
import { foldWord } from './fold-word.ts';
import type { Language } from './languages.ts';
import { splitWords, visible } from './split-words.ts';
import type { Synonyms, SynonymWord } from './synonyms.ts';
import { typosAllowed } from './typo-distance.ts';

/** A word of a query, in the form that is compared with the words of texts. */
export type SearchTerm = {
  /** The word as typed, in lower case. */
  readonly typed: string;
  readonly folded: string;
  readonly stem: string;
  /** True if longer words match too. It is the last word of the query, and nothing follows it. */
  readonly isPrefix: boolean;
  readonly typos: number;
  readonly mayHaveTypos: boolean;
  /** Words that count as this word. */
  readonly synonyms: readonly SynonymWord[];
  /** Words that it forms together with its neighbours. */
  readonly joined: readonly JoinedWord[];
  /** Pairs of words that count as this word if one follows the other. */
  readonly splits: readonly Split[];
  /** Folded words that have this word as a part, each with the letters of the part. */
  readonly compounds: ReadonlyMap<string, WordPart>;
  /** Place of the word among the typed words, including stop words. */
  readonly place: number;
  /** Number of times that it was typed. */
  readonly count: number;
};

/** Several typed words that are joined to one word, with the typos that it may have. */
export type JoinedWord = { readonly text: string; readonly typos: number; readonly isPrefix: boolean };

/** Two words that may have been typed as one. */
export type Split = readonly [string, string];

/** `all`: every term must match. `any`: one term must match. */
export type SearchMode = 'all' | 'any';

/** Terms of a query for texts in one language. */
export type SearchTerms = { readonly mode: SearchMode; readonly terms: readonly SearchTerm[] };

export type TermRules = {
  readonly language: Language;
  readonly typoTolerance: boolean;
  readonly synonyms?: Synonyms;
};

/** Compounds of a word before they are looked up. */
export const NO_COMPOUNDS: SearchTerm['compounds'] = new Map();

/** Maximum words that must all match. A query with more words is a question: any of them may match. */
const MOST_REQUIRED = 4;
const MOST_TYPOS = 2;
/** Minimum letters of a word that may get one more typo. Too many words resemble shorter ones. */
const SHORTEST_GUESSED = 4;
/** Maximum words of a query that are searched. Further words are ignored. */
export const MOST_TERMS = 64;

/** Returns the words of a query in order, including stop words. */
export function typedTerms(query: string, rules: TermRules): readonly SearchTerm[] {
  const { language, typoTolerance } = rules;
  const words = splitWords(query, language.locale);
  const last = words.at(-1);
  const isOpen = last !== undefined && visible(query.slice(last.end)) === '';
  return words.map(({ word }, place): SearchTerm => {
    const [folded, stem] = [foldWord(word), language.stem(word)];
    return {
      typed: word,
      folded,
      stem,
      place,
      count: 1,
      isPrefix: isOpen && place === words.length - 1,
      mayHaveTypos: typoTolerance,
      typos: typoTolerance ? typosAllowed(folded) : 0,
      synonyms: rules.synonyms?.words.get(stem) ?? [],
      joined: [],
      splits: [],
      compounds: NO_COMPOUNDS,
    };
  });
}

/** Returns the terms to search for the typed words. */
export function termsOf(typed: readonly SearchTerm[], rules: TermRules): SearchTerms {
  const kept = withoutStopWords(typed, rules);
  const mode = kept.length > MOST_REQUIRED ? 'any' : 'all';
  return { mode, terms: (mode === 'any' ? countRepeated(kept) : joinAndSplit(kept)).slice(0, MOST_TERMS) };
}

/** Removes stop words, unless the query has no other words. */
export function withoutStopWords(
  terms: readonly SearchTerm[],
  { language }: Pick<TermRules, 'language'>,
): readonly SearchTerm[] {
  const meant = terms.filter(({ folded, isPrefix }) => isPrefix || !language.stopWords.has(folded));
  return meant.length === 0 ? terms : meant;
}

/**
 * Adds the words that neighbours form together, and the pairs into which words may be split. `sun flower` finds `sunflower`, and the
 * reverse.
 */
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

/** Maximum number of words that are joined. */
const MOST_JOINED = 3;

/** Joins words. Each joint counts as a typo. Returns undefined if a stop word was between the words, or they may not have typos. */
function joinWords(terms: readonly SearchTerm[]): JoinedWord | undefined {
  const [first] = terms;
  if (first === undefined || !terms.every(({ mayHaveTypos }) => mayHaveTypos)) return undefined;
  if (!terms.every(({ place }, at) => place === first.place + at)) return undefined;
  const text = terms.map(({ folded }) => folded).join('');
  const typos = Math.max(0, typosAllowed(text) - (terms.length - 1));
  return { text, typos, isPrefix: terms.some(({ isPrefix }) => isPrefix) };
}

/** Minimum letters of a part that counts as a word. */
const SHORTEST_PART = 2;
/** Maximum letters of a word that is split. */
const LONGEST_SPLIT = 40;

/** Returns the possible splits of a word into two, the most even one first. */
export function splitsOf({ folded, mayHaveTypos }: SearchTerm): readonly Split[] {
  const last = folded.length - SHORTEST_PART;
  if (!mayHaveTypos || folded.length > LONGEST_SPLIT || last < SHORTEST_PART) return [];
  const places = Array.from({ length: last - SHORTEST_PART + 1 }, (_, at) => at + SHORTEST_PART);
  const unevenness = (at: number) => Math.abs(folded.length - 2 * at);
  return places
    .sort((a, b) => unevenness(a) - unevenness(b) || a - b)
    .map((at) => [folded.slice(0, at), folded.slice(at)]);
}

/** Returns the term for exact matches. In a long query, a word that occurs in texts has no typo and is complete. */
export function asTyped(term: SearchTerm): SearchTerm {
  return { ...term, typos: 0, isPrefix: false };
}

/** Returns a term that no text has, with one more typo; undefined if it already has the maximum. */
export function allowAnotherTypo(term: SearchTerm): SearchTerm | undefined {
  return term.mayHaveTypos && term.typos < MOST_TYPOS && term.folded.length >= SHORTEST_GUESSED
    ? { ...term, typos: term.typos + 1 }
    : undefined;
}

/** Minimum letters of a word in place of which a similar one is proposed. */
const SHORTEST_SIMILAR = 3;

/** Returns a term for words that resemble a typed word, with one typo more than searches allow. Undefined for words that are too short. */
export function similarTerm(term: SearchTerm): SearchTerm | undefined {
  const { folded } = term;
  if (!term.mayHaveTypos || folded.length < SHORTEST_SIMILAR) return undefined;
  const typos = Math.min(MOST_TYPOS, typosAllowed(folded) + 1);
  return { ...term, typos, isPrefix: false, synonyms: [], joined: [], splits: [], compounds: NO_COMPOUNDS };
}

/** Returns the typos of a word that may replace a typed word as `kind` says; undefined if it may not. */
export function typosOfOther(
  { folded, stem }: SearchTerm,
  kind: 'completed' | 'similar',
  word: { readonly folded: string; readonly stem: string | undefined },
  match: { readonly typos: number },
): number | undefined {
  if (kind === 'similar') return match.typos >= 1 && word.stem !== stem ? match.typos : undefined;
  if (word.folded.startsWith(folded)) return 0;
  return match.typos >= 1 ? match.typos : undefined;
}

/**
 * Returns the terms of a search as if a space followed the last word. Other words keep the longer words that they form together with the
 * last one.
 */
export function completeTerms(
  terms: readonly SearchTerm[],
  rules: Pick<TermRules, 'language'>,
): readonly SearchTerm[] {
  return withoutStopWords(
    terms.map((term) => (term.isPrefix ? completeTerm(term) : term)),
    rules,
  );
}

function completeTerm(term: SearchTerm): SearchTerm {
  const { folded, mayHaveTypos, joined } = term;
  return {
    ...term,
    isPrefix: false,
    typos: mayHaveTypos ? typosAllowed(folded) : 0,
    joined: joined.map((word) => ({ ...word, isPrefix: false })),
    compounds: NO_COMPOUNDS,
  };
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
