import { expect, it } from 'vitest';
import {
  createVocabulary,
  dropWord,
  internWord,
  type Vocabulary,
  wordsFolded,
  wordsOfStem,
} from '../../../shared/read-index/embedded/words/vocabulary.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import type { WordKind } from '../../../shared/search/match-word.ts';

/** Returns the words of a result, with their kinds. */
function named({ words }: Vocabulary, numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => `${words[number]?.key.replace(/^\W/, '')} ${words[number]?.kind}`).sort();
}

function vocabularyOf(words: readonly (readonly [string, WordKind])[]): Vocabulary {
  // The stem of `ab` is a word with another stem.
  const stems = new Map(Object.entries({ ab: 'a', a: 'b' }));
  const { stem } = languageOf('en');
  const made = createVocabulary({ ...languageOf('en'), stem: (word) => stems.get(word) ?? stem(word) });
  for (const [word, kind] of words) internWord(made, word, kind);
  return made;
}

const WORDS: readonly (readonly [string, WordKind])[] = [
  ['layers', 'text'],
  ['layer', 'keyword'],
  ['layer', 'text'],
  ['layer', 'spelled'],
  ['cafe', 'text'],
  ['café', 'text'],
  ['ab', 'text'],
  ['a', 'text'],
];

it('finds words of each kind by their folded forms', () => {
  const vocabulary = vocabularyOf(WORDS);
  const folded = (word: string) => named(vocabulary, wordsFolded(vocabulary, word));
  expect(folded('layer')).toEqual(['layer keyword', 'layer spelled', 'layer text']);
  expect(folded('cafe')).toEqual(['cafe text', 'café text']);
  expect(folded('café')).toEqual([]);
  expect(folded('other')).toEqual([]);
});

it('finds words by their stems, but not a word that only looks like the stem', () => {
  const vocabulary = vocabularyOf(WORDS);
  const ofStem = (stem: string) => named(vocabulary, wordsOfStem(vocabulary, stem));
  expect(ofStem('layer')).toEqual(['layer spelled', 'layer text', 'layers text']);
  expect(ofStem('a')).toEqual(['ab text']);
  expect(ofStem('b')).toEqual(['a text']);
});

it('forgets words that are not used any more', () => {
  const vocabulary = vocabularyOf(WORDS);
  for (const number of vocabulary.words.keys()) dropWord(vocabulary, number);
  for (const word of ['layer', 'cafe', 'a', 'b']) {
    expect(wordsFolded(vocabulary, word)).toEqual([]);
    expect(wordsOfStem(vocabulary, word)).toEqual([]);
  }
  const { numbers, otherFolded, otherStems } = vocabulary;
  expect([numbers.size, otherFolded.size, otherStems.size]).toEqual([0, 0, 0]);
});
