import { valueAt } from '../../shared/map-values.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { languageOf } from '../../shared/search/languages.ts';
import {
  AS_PART,
  type IndexedWord,
  indexedWord,
  matchWord,
  type WordKind,
  type WordMatch,
} from '../../shared/search/match-word.ts';
import { FAR, VALUE_GAP } from '../../shared/search/rank-hits.ts';
import { wordsOfValue } from '../../shared/search/row-words.ts';
import type { SearchField } from '../../shared/search/search-settings.ts';
import type { SearchTerm } from '../../shared/search/search-terms.ts';
import { rest } from '../../shared/turns/slice.ts';

/** Kind of match between a word of a text and a word of a query. `split`: two words of the text are the typed word, or the reverse. */
type MatchKind = 'exact' | 'stem' | 'prefix' | 'synonym' | 'part' | 'typo' | 'split';

/** A word of an entry that a typed word matches. */
export type ExplainedWord = {
  readonly typed: string;
  readonly word: string;
  readonly how: MatchKind;
  readonly typos: number;
  readonly attribute: string;
  readonly weight: number;
};

/** Why an entry is a hit, and the sums by which it is ranked: fewer typos, a smaller distance, then more exact words are better. */
export type ExplainedHit = {
  readonly words: readonly ExplainedWord[];
  readonly typos: number;
  /** Sum of the distances of neighbouring typed words, each from 1 to 5. */
  readonly distance: number;
  /** Number of typed words that the entry has as they were typed. */
  readonly exact: number;
  /** Number of words before the first match in the heaviest matched attribute. */
  readonly first: number;
};

/** Maximum words of an entry that are listed for one typed word. */
const MOST_WORDS = 10;
/** Maximum words of an entry that are compared with the query. */
const MOST_COMPARED = 5_000;

/** Texts of an entry that are compared with the words of a query, and the language of both. */
type ExplainedSearch = {
  readonly fields: readonly SearchField[];
  /** The words that the entry had to match. */
  readonly terms: readonly SearchTerm[];
  readonly locale: string;
  /** Called with a number of comparisons before they are made. May throw. */
  readonly compare: (comparisons: number) => void;
};

/** The best matches of a typed word: those with the fewest typos, in the order of the texts. */
type Best = {
  typos: number;
  words: ExplainedWord[];
  positions: number[];
  isExact: boolean;
  /** Weight of the heaviest matched attribute, and the number of words before the first match in it. */
  weight: number;
  at: number;
};

/**
 * Creates the explanation of a hit by its own texts. `row`: its attributes by name. If a call ends with its slice, the next call continues it.
 */
export function createHitExplanation(
  search: ExplainedSearch,
  row: { readonly [attribute: string]: unknown },
): () => ExplainedHit {
  const find = createBestMatches(search, row);
  return () => {
    const best = find();
    const there = best.filter(({ words }) => words.length > 0);
    const distances = best.slice(1).map(({ positions }, at) => {
      return distanceOf(best[at]?.positions ?? [], positions, search.compare);
    });
    const [first] = there.toSorted((a, b) => b.weight - a.weight || a.at - b.at);
    return {
      words: there.flatMap(({ words }) => words),
      typos: there.reduce((sum, { typos }) => sum + typos, 0),
      distance: distances.reduce((sum, each) => sum + each, 0),
      exact: there.filter(({ isExact }) => isExact).length,
      first: first?.at ?? 0,
    };
  };
}

/** Creates the best matches of each term in the texts of a row. */
function createBestMatches(
  search: ExplainedSearch,
  row: { readonly [attribute: string]: unknown },
): () => readonly Best[] {
  const best = search.terms.map((): Best => {
    return { typos: Number.POSITIVE_INFINITY, words: [], positions: [], isExact: false, weight: 0, at: 0 };
  });
  const read = readMatches(search, row);
  return () => {
    for (let next = read.next(); next.done !== true; next = read.next()) {
      const { matches, comparisons } = next.value;
      for (const match of matches) addMatch(best[match.term] as Best, match, next.value);
      rest(comparisons + matches.length);
    }
    return best;
  };
}

type ReadWord = {
  readonly word: string;
  readonly matches: readonly Match[];
  readonly comparisons: number;
  readonly field: SearchField;
  /** Position of the word among the words of the row, and number of words before it in its text. */
  readonly position: number;
  readonly at: number;
};

/** Matches the words of a row, text by text. */
function* readMatches(
  search: ExplainedSearch,
  row: { readonly [attribute: string]: unknown },
): Generator<ReadWord, undefined> {
  let [left, position] = [MOST_COMPARED, 0];
  for (const field of search.fields) {
    const words = wordsOfValue(field, textOf(row[field.attribute]), search.locale).slice(0, left);
    const match = createMatches(search, field.kind);
    left -= words.length;
    position += VALUE_GAP;
    for (const [at, word] of words.entries()) yield { word, ...match(word), field, position: ++position, at };
  }
}

function addMatch(
  best: Best,
  { typed, how, typos, isExact, pair }: Match,
  { word, field, position, at }: ReadWord,
): void {
  const { name: attribute, weight } = field;
  if (typos > best.typos) return;
  if (typos < best.typos) Object.assign(best, { typos, words: [], positions: [], isExact: false, weight: 0 });
  if (best.words.length < MOST_WORDS)
    best.words.push({ typed, word: pair ?? word, how, typos, attribute, weight });
  best.positions.push(position);
  best.isExact ||= isExact;
  if (weight > best.weight || (weight === best.weight && at < best.at)) [best.weight, best.at] = [weight, at];
}

type Match = {
  /** Number of the term, and its word as typed. */
  readonly term: number;
  readonly typed: string;
  readonly how: MatchKind;
  readonly typos: number;
  readonly isExact: boolean;
  /** The matching word together with the one before it, if only both match. */
  readonly pair?: string;
};

/** Creates the function that matches the successive words of a text. It compares each different word once. */
function createMatches({ terms, locale, compare }: ExplainedSearch, kind: WordKind) {
  const language = languageOf(locale);
  const known = new Map<string, readonly Match[]>();
  const split = [...terms.entries()].filter(([, { splits }]) => splits.length > 0);
  let before: string | undefined;
  return (word: string): { readonly matches: readonly Match[]; readonly comparisons: number } => {
    const comparisons = known.has(word) ? 1 : terms.length;
    compare(comparisons);
    const indexed = indexedWord(language, word, kind);
    const own = valueAt(known, word, () => [...terms.entries()].flatMap((each) => matchOf(each, indexed)));
    const pairs = split
      .filter(([term]) => own.every((match) => match.term !== term))
      .flatMap((each) => pairOf(each, indexed, before));
    before = indexed.folded;
    return { matches: pairs.length === 0 ? own : [...own, ...pairs], comparisons };
  };
}

function textOf(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

type NumberedTerm = readonly [number: number, term: SearchTerm];

function matchOf([number, term]: NumberedTerm, word: IndexedWord): readonly Match[] {
  const match = matchWord(term, word);
  if (match === undefined) return [];
  const { typed } = term;
  return [
    { term: number, typed, how: kindOf(term, word, match), typos: match.typos, isExact: match.isExact },
  ];
}

/** Returns the match of a word together with the word before it. */
function pairOf(
  [term, { typed, splits }]: NumberedTerm,
  { kind, folded }: IndexedWord,
  before: string | undefined,
): readonly Match[] {
  if (kind !== 'text' || !splits.some(([first, second]) => first === before && second === folded)) return [];
  return [{ term, typed, how: 'split', typos: 1, isExact: true, pair: `${before} ${folded}` }];
}

function kindOf(
  { typed, folded, stem, isPrefix }: SearchTerm,
  word: IndexedWord,
  match: WordMatch,
): MatchKind {
  const written = foldWord(typed);
  // The typed word was split into this term, or has it as a synonym.
  if (folded !== written && match.typos === 0) return written.includes(folded) ? 'split' : 'synonym';
  if (match.typos >= 1) return 'typo';
  if (match.typos === AS_PART.typos) return 'part';
  if (match.isExact) return 'exact';
  if (word.stem === stem) return 'stem';
  return isPrefix && word.folded.startsWith(folded) ? 'prefix' : 'synonym';
}

/** Returns the distance of two terms by their ascending positions, from 1 to 5. The wrong order counts as one word more. */
function distanceOf(
  before: readonly number[],
  after: readonly number[],
  compare: ExplainedSearch['compare'],
): number {
  let nearest = FAR;
  let next = 0;
  for (const position of before) {
    const skipped = next;
    while ((after[next] ?? Number.POSITIVE_INFINITY) < position) next++;
    compare(1 + next - skipped);
    const earlier = after[next - 1] ?? Number.NEGATIVE_INFINITY;
    const later = after[after[next] === position ? next + 1 : next] ?? Number.POSITIVE_INFINITY;
    nearest = Math.min(nearest, 1 + position - earlier, later - position);
  }
  return nearest;
}
