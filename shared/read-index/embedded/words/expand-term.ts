import { ALIKE, matchWord, type WordMatch } from '../../../search/match-word.ts';
import type { SearchTerm } from '../../../search/search-terms.ts';
import { createSequence } from '../../../turns/sequence.ts';
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

function nameOf({ folded, stem, isPrefix, typos, synonyms, joined, compounds }: SearchTerm): string {
  const alike = synonyms.map((synonym) => `${synonym.folded}:${synonym.stem}`);
  const together = joined.map((word) => `${word.text}:${word.typos}:${word.isPrefix}`);
  return [isPrefix, typos, folded, stem, ...alike, ...together, ...compounds.keys()].join(' ');
}

function createScan(vocabulary: Vocabulary, term: SearchTerm): () => Expansion {
  const words: number[] = [];
  const matches: WordMatch[] = [];
  const known = new Set<number>();
  const add = (number: number, hasBeginning: boolean): void => {
    // The word may have been added as a word of the term itself, or by an earlier visit.
    if (known.has(number)) return;
    const match = hasBeginning ? ALIKE : matchWord(term, vocabulary.words[number] as KnownWord);
    if (match === undefined) return;
    known.add(number);
    words.push(number);
    matches.push(match);
  };
  for (const number of wordsOfTerm(vocabulary, term)) add(number, false);
  const { folded, isPrefix, typos, joined, compounds } = term;
  for (const word of compounds.keys()) for (const number of wordsFolded(vocabulary, word)) add(number, false);
  const walks = joined.map((each) => createNearWalk(vocabulary.trie, each, (number) => add(number, false)));
  if (isPrefix || typos > 0)
    walks.unshift(createNearWalk(vocabulary.trie, { text: folded, typos, isPrefix }, add));
  const walk = createSequence(walks);
  return () => {
    walk();
    return { words, matches };
  };
}

/** Returns the words that are the term itself, or have its stem, or those of a synonym. */
export function wordsOfTerm(
  vocabulary: Vocabulary,
  { folded, stem, synonyms }: SearchTerm,
): readonly number[] {
  return [
    ...wordsFolded(vocabulary, folded),
    ...wordsOfStem(vocabulary, stem),
    ...synonyms.flatMap((synonym) => [
      ...wordsFolded(vocabulary, synonym.folded),
      ...wordsOfStem(vocabulary, synonym.stem),
    ]),
  ];
}
