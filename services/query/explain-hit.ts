import { foldWord } from '../../shared/search/fold-word.ts';
import { type Language, languageOf } from '../../shared/search/languages.ts';
import {
  AS_PART,
  type IndexedWord,
  indexedWord,
  matchWord,
  type WordMatch,
} from '../../shared/search/match-word.ts';
import { FAR, VALUE_GAP } from '../../shared/search/rank-hits.ts';
import { wordsOfValue } from '../../shared/search/row-words.ts';
import type { SearchField } from '../../shared/search/search-settings.ts';
import type { SearchTerm } from '../../shared/search/search-terms.ts';

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
/** Maximum words of an entry that are compared with the query: the work on one hit is not interrupted. */
const MOST_COMPARED = 5_000;

type Found = ExplainedWord & {
  readonly term: number;
  readonly position: number;
  readonly at: number;
  readonly isExact: boolean;
};

/** Explains a hit by its own texts. `terms`: the words that it had to match. `row`: its attributes by name. */
export function explainHit(
  fields: readonly SearchField[],
  terms: readonly SearchTerm[],
  row: { readonly [attribute: string]: unknown },
  locale: string,
): ExplainedHit {
  const found = foundWords(fields, terms, row, languageOf(locale));
  const best = terms.map((_, term) => {
    const own = found.filter((each) => each.term === term);
    const least = Math.min(...own.map(({ typos }) => typos));
    return own.filter(({ typos }) => typos === least);
  });
  const there = best.filter((own) => own.length > 0);
  const distances = best.slice(1).map((own, at) => distanceOf(best[at] ?? [], own));
  const first = there.flat().toSorted((a, b) => b.weight - a.weight || a.at - b.at)[0];
  return {
    words: there.flatMap((own) => own.slice(0, MOST_WORDS).map(shownWord)),
    typos: there.reduce((sum, own) => sum + (own[0]?.typos ?? 0), 0),
    distance: distances.reduce((sum, each) => sum + each, 0),
    exact: there.filter((own) => own.some(({ isExact }) => isExact)).length,
    first: first?.at ?? 0,
  };
}

function shownWord({ typed, word, how, typos, attribute, weight }: Found): ExplainedWord {
  return { typed, word, how, typos, attribute, weight };
}

function foundWords(
  fields: readonly SearchField[],
  terms: readonly SearchTerm[],
  row: { readonly [attribute: string]: unknown },
  language: Language,
): readonly Found[] {
  const found: Found[] = [];
  let position = 0;
  let left = MOST_COMPARED;
  for (const field of fields) {
    const words = wordsOfValue(field, textOf(row[field.attribute]), language.locale).slice(0, left);
    left -= words.length;
    position += VALUE_GAP;
    let before: string | undefined;
    for (const [at, word] of words.entries()) {
      position++;
      const indexed = indexedWord(language, word, field.kind);
      for (const [number, term] of terms.entries()) {
        const how = howOf(term, indexed, before);
        if (how === undefined) continue;
        const { name: attribute, weight } = field;
        const { typed } = term;
        found.push({ ...how, typed, word: how.word ?? word, attribute, weight, term: number, position, at });
      }
      before = indexed.folded;
    }
  }
  return found;
}

function textOf(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

type How = {
  readonly how: MatchKind;
  readonly typos: number;
  readonly isExact: boolean;
  readonly word?: string;
};

function howOf(term: SearchTerm, word: IndexedWord, before: string | undefined): How | undefined {
  const match = matchWord(term, word);
  if (match !== undefined)
    return { how: kindOf(term, word, match), typos: match.typos, isExact: match.isExact };
  const isSplit =
    word.kind === 'text' && term.splits.some(([first, second]) => first === before && second === word.folded);
  return isSplit ? { how: 'split', typos: 1, isExact: true, word: `${before} ${word.folded}` } : undefined;
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

/** Returns the distance of two terms, from 1 to 5. The wrong order counts as one word more. */
function distanceOf(before: readonly Found[], after: readonly Found[]): number {
  let nearest = FAR;
  for (const a of before) {
    for (const b of after) {
      const distance = b.position - a.position;
      if (distance !== 0) nearest = Math.min(nearest, distance > 0 ? distance : 1 - distance);
    }
  }
  return nearest;
}
