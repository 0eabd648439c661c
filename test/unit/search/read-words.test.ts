import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  createVocabulary,
  dropWord,
  internPlainWord,
  internWord,
} from '../../../shared/read-index/embedded/words/vocabulary.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { readWords, wordsOfValue } from '../../../shared/search/row-words.ts';

const field = { name: 'text', path: [], attribute: 'text', type: 'text', weight: 1, kind: 'text' } as const;

/** Returns the words that a reader finds in a text. */
function wordsRead(text: unknown): string[] {
  const words: string[] = [];
  readWords(field, text, 'en', {
    read: (word) => words.push(word),
    readPlain: (value, start, end) => words.push(value.slice(start, end)),
  });
  return words;
}

it('reads the words of a value, with and without letters outside ASCII', () => {
  const part = fc.constantFrom(
    'Heat',
    'a',
    'B2',
    'x'.repeat(1_000),
    'y'.repeat(1_001),
    'é',
    'ß',
    ' ',
    '-',
    '語',
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(wordsRead(parts.join(''))).toEqual(wordsOfValue(field, parts.join(''), 'en'));
      const spaced = parts.join(' ');
      expect(wordsRead(spaced)).toEqual(wordsOfValue(field, spaced, 'en'));
    }),
  );
  expect(wordsRead(null)).toEqual([]);
  const long = `${'y'.repeat(1_001)} ${'word '.repeat(20_001)}`;
  expect([wordsRead(long).length, wordsOfValue(field, long, 'en').length]).toEqual([20_000, 20_000]);
});

it('returns the number of a word after any other word used its cache slot', () => {
  // All these words share a slot in the cache of recent words. Other kinds and dropped words have used it before.
  const vocabulary = createVocabulary(languageOf('en'));
  const use = (word: string) =>
    internPlainWord(vocabulary, `a ${word}`, { start: 2, end: 2 + word.length, hash: 5 });
  const keyword = internWord(vocabulary, 'heat', 'keyword');
  const heat = use('heat');
  const flow = use('flow');
  expect(new Set([keyword, heat, flow]).size).toBe(3);
  expect([use('heat'), use('flow'), use('flow')]).toEqual([heat, flow, flow]);
  expect(vocabulary.words[flow]?.uses).toBe(3);
  for (let i = 0; i < 3; i++) dropWord(vocabulary, flow);
  expect(use('fl')).toBe(flow);
  expect(use('flow')).not.toBe(flow);
  expect(vocabulary.words.map((word) => word?.key)).toEqual(['\0heat', 'heat', 'fl', 'flow']);
});
