import { matchWord, type WordMatch } from '../../search/match-word.ts';
import type { SearchTerm } from '../../search/search-terms.ts';
import { rest } from '../../turns/slice.ts';
import {
  createExpansionCache,
  type Expansion,
  type KnownWord,
  lettersOf,
  type Vocabulary,
} from './vocabulary.ts';

/** Words between two looks at the clock. */
const AT_ONCE = 256;
/** Cost of comparing a word with a term, in steps of a slice. */
const COMPARE_STEPS = 5;

/** Every word that `matchWord` takes for the term. Where a call ends with its slice, the next goes on with it. */
export function createExpansion(vocabulary: Vocabulary, term: SearchTerm): () => Expansion {
  const { expansions } = vocabulary;
  if (expansions.version !== vocabulary.version) {
    expansions.byTerm = createExpansionCache();
    expansions.version = vocabulary.version;
  }
  const name = nameOf(term);
  const known = expansions.byTerm.get(name);
  if (known !== undefined) return () => known;
  const expand = createScan(vocabulary, term);
  return () => {
    const expansion = expand();
    expansions.byTerm.set(name, expansion);
    return expansion;
  };
}

function nameOf({ folded, stem, isPrefix, typos, synonyms }: SearchTerm): string {
  return [isPrefix, typos, folded, stem, ...synonyms].join(' ');
}

function createScan(vocabulary: Vocabulary, term: SearchTerm): () => Expansion {
  const words: number[] = [];
  const matches: WordMatch[] = [];
  for (const number of new Set(wordsOfTerm(vocabulary, term))) {
    const match = matchWord(term, vocabulary.words[number] as KnownWord);
    if (match === undefined) continue;
    words.push(number);
    matches.push(match);
  }
  if (!term.isPrefix && term.typos === 0) return () => ({ words, matches });
  const lists = scannedLists(vocabulary, term);
  const isNear = nearness(vocabulary, term);
  const found: number[] = [];
  const compare = createComparison({ vocabulary, term, found }, { words, matches });
  let list = 0;
  let next = 0;
  return () => {
    for (; list < lists.length; list++, next = 0) {
      const numbers = lists[list] as readonly number[];
      while (next < numbers.length) {
        const number = numbers[next++] as number;
        if (isNear(number)) found.push(number);
        if (next % AT_ONCE === 0) rest(AT_ONCE);
      }
    }
    return compare();
  };
}

type Scanned = {
  readonly vocabulary: Vocabulary;
  readonly term: SearchTerm;
  readonly found: readonly number[];
};

/** Adds the words among those found that match to those that are known already. */
function createComparison({ vocabulary, term, found }: Scanned, known: Expansion): () => Expansion {
  const before = new Set(known.words);
  const words = [...known.words];
  const matches = [...known.matches];
  let compared = 0;
  return () => {
    while (compared < found.length) {
      const number = found[compared++] as number;
      const match = before.has(number) ? undefined : matchWord(term, vocabulary.words[number] as KnownWord);
      if (match !== undefined) {
        words.push(number);
        matches.push(match);
      }
      rest(COMPARE_STEPS);
    }
    return { words, matches };
  };
}

/** Words that are the term itself, its stem or a synonym. */
export function wordsOfTerm(
  { byFolded, byStem }: Vocabulary,
  { folded, stem, synonyms }: SearchTerm,
): readonly number[] {
  const lists = [byFolded.get(folded), byStem.get(stem), ...synonyms.map((synonym) => byFolded.get(synonym))];
  return lists.flatMap((list) => list ?? []);
}

/** Words that may match by their beginning or with typos: with two allowed the first letter may be another one. */
function scannedLists({ byLetter }: Vocabulary, { folded, typos }: SearchTerm): (readonly number[])[] {
  const first = byLetter.get(folded.charCodeAt(0)) ?? [];
  if (typos < 2) return [first];
  return [...byLetter.values()];
}

/** A cheap test that no matching word fails. */
function nearness(
  { letters, lengths }: Vocabulary,
  { folded, typos, isPrefix }: SearchTerm,
): (word: number) => boolean {
  const wanted = lettersOf(folded);
  const shortest = folded.length - typos;
  const longest = isPrefix ? Number.POSITIVE_INFINITY : folded.length + typos;
  return (word) => {
    const length = lengths[word] as number;
    if (length < shortest || length > longest) return false;
    let missing = wanted & ~(letters[word] as number);
    // Each typo takes at most one letter away: a letter that is not in the word costs one.
    for (let left = typos; missing !== 0; left--) {
      if (left === 0) return false;
      missing &= missing - 1;
    }
    return true;
  };
}
