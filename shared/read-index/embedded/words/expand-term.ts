import { ALIKE, matchWord, type WordMatch } from '../../../search/match-word.ts';
import type { SearchTerm } from '../../../search/search-terms.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { createNearWalk, type NearSearch, WORD_STEPS } from './near-words.ts';
import {
  createExpansions,
  type Expansion,
  type KnownWord,
  type Vocabulary,
  wordsFolded,
  wordsOfStem,
} from './vocabulary.ts';

/** Finds all words that `matchWord` accepts for the term. If a call ends with its slice, the next call continues. */
export function createExpansion(vocabulary: Vocabulary, term: SearchTerm): () => Expansion {
  const { expansions, version } = vocabulary;
  if (expansions.version !== version) Object.assign(expansions, createExpansions(version));
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
  const walks = joined.map((each) => createKnownWalk(vocabulary, each, (number) => add(number, false)));
  if (isPrefix || typos > 0)
    walks.unshift(createKnownWalk(vocabulary, { text: folded, typos, isPrefix }, add));
  const walk = createSequence(walks);
  return () => {
    walk();
    return { words, matches };
  };
}

/**
 * Visits the words near a text. Terms share the words that they form together, and a search for similar words includes one with fewer
 * typos. So the words of recent walks are kept.
 */
function createKnownWalk(
  { trie, expansions: { walks } }: Vocabulary,
  search: NearSearch,
  visit: (word: number, hasBeginning: boolean) => void,
): () => void {
  const { text, typos, isPrefix } = search;
  const name = `${text}${isPrefix ? '*' : ''}`;
  const known = walks.get(name);
  if (known !== undefined && known.typos >= typos) return createVisits(known.visits, visit);
  const visits: number[] = [];
  const walk = createNearWalk(trie, search, (word, hasBeginning) => {
    visits.push(word * 2 + Number(hasBeginning));
    visit(word, hasBeginning);
  });
  return () => {
    walk();
    walks.set(name, { typos, visits });
  };
}

/** Visits known words. If a call ends with its slice, the next call continues. */
function createVisits(
  visits: readonly number[],
  visit: (word: number, hasBeginning: boolean) => void,
): () => void {
  let next = 0;
  return () => {
    while (next < visits.length) {
      const each = visits[next++] as number;
      visit(each >> 1, (each & 1) === 1);
      rest(WORD_STEPS);
    }
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
