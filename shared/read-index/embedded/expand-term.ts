import { ALIKE, matchWord, type WordMatch } from '../../search/match-word.ts';
import type { SearchTerm } from '../../search/search-terms.ts';
import { createNearWalk } from './near-words.ts';
import {
  createExpansionCache,
  type Expansion,
  type KnownWord,
  type Vocabulary,
  wordsFolded,
  wordsOfStem,
} from './vocabulary.ts';

/** Finds all words that `matchWord` accepts for the term. If a call ends with its slice, the next call continues. */
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

function nameOf({ folded, stem, isPrefix, typos, synonyms, joined }: SearchTerm): string {
  const together = joined.map((word) => `${word.text}:${word.typos}:${word.isPrefix}`);
  return [isPrefix, typos, folded, stem, ...synonyms, ...together].join(' ');
}

function createScan(vocabulary: Vocabulary, term: SearchTerm): () => Expansion {
  const words: number[] = [];
  const matches: WordMatch[] = [];
  const known = new Set<number>();
  const add = (number: number, match: WordMatch | undefined): void => {
    if (match === undefined) return;
    known.add(number);
    words.push(number);
    matches.push(match);
  };
  const compare = (number: number) => matchWord(term, vocabulary.words[number] as KnownWord);
  for (const number of wordsOfTerm(vocabulary, term)) if (!known.has(number)) add(number, compare(number));
  const { folded, isPrefix, typos } = term;
  const walks: (() => void)[] = [];
  if (isPrefix || typos > 0) {
    const visit = (number: number, hasBeginning: boolean) => {
      // The word may have been added as a word of the term itself, or by an earlier visit.
      if (!known.has(number)) add(number, hasBeginning ? ALIKE : compare(number));
    };
    walks.push(createNearWalk(vocabulary.trie, { text: folded, typos, isPrefix }, visit));
  }
  for (const joined of term.joined) {
    const visit = (number: number) => {
      if (!known.has(number)) add(number, compare(number));
    };
    walks.push(createNearWalk(vocabulary.trie, joined, visit));
  }
  let next = 0;
  return () => {
    for (; next < walks.length; next++) (walks[next] as () => void)();
    return { words, matches };
  };
}

/** Returns the words that are the term itself, or have its stem or are a synonym. */
export function wordsOfTerm(
  vocabulary: Vocabulary,
  { folded, stem, synonyms }: SearchTerm,
): readonly number[] {
  return [
    ...wordsFolded(vocabulary, folded),
    ...wordsOfStem(vocabulary, stem),
    ...synonyms.flatMap((synonym) => wordsFolded(vocabulary, synonym)),
  ];
}
