import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNearWalk } from '../../../shared/read-index/embedded/words/near-words.ts';
import {
  addToTrie,
  createWordTrie,
  DEEPEST,
  removeFromTrie,
  type WordTrie,
} from '../../../shared/read-index/embedded/words/word-trie.ts';
import { TOO_FAR, typoDistance } from '../../../shared/search/typo-distance.ts';

/** Generates words of few letters, so that many are similar. Some are longer than the trie is deep. */
const word = fc
  .array(fc.constantFrom('a', 'b', 'c', 'é', '語'), { minLength: 1, maxLength: DEEPEST + 4 })
  .map((letters) => letters.join(''));
/** Generates a typed word or prefix, with letters that are swapped, removed and added. */
const typing = fc.record({
  word: fc.nat(),
  cut: fc.nat(4),
  swapped: fc.nat(20),
  gone: fc.nat(20),
  more: fc.nat(20),
  typos: fc.constantFrom(0, 1, 2),
  isPrefix: fc.boolean(),
});
type Typing = typeof typing extends fc.Arbitrary<infer Value> ? Value : never;

function typedOf(words: readonly string[], { word: at, cut, swapped, gone, more }: Typing): string {
  const letters = [...(words[at % words.length] ?? 'a')];
  letters.length = Math.max(1, letters.length - cut);
  const [one, other] = [letters[swapped], letters[swapped + 1]];
  if (one !== undefined && other !== undefined) letters.splice(swapped, 2, other, one);
  if (letters.length > 1) letters.splice(gone, 1);
  if (more < letters.length) letters.splice(more, 0, 'b');
  return letters.join('');
}

/** Returns all found words, and those that the walk flags as beginning with the text. */
function walk(trie: WordTrie, search: Parameters<typeof createNearWalk>[1]) {
  const come = new Set<number>();
  const beginning = new Set<number>();
  createNearWalk(trie, search, (number, hasBeginning) => {
    come.add(number);
    if (hasBeginning) beginning.add(number);
  })();
  return { come, beginning };
}

it('finds every similar word, and flags only words that begin with the text', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), fc.array(typing, { maxLength: 10 }), (words, typed) => {
      const trie = createWordTrie();
      for (const [number, each] of words.entries()) addToTrie(trie, each, number);
      // Every third word is removed again.
      for (const [number, each] of words.entries()) if (number % 3 === 0) removeFromTrie(trie, each, number);
      const held = [...words.entries()].filter(([number]) => number % 3 !== 0);
      for (const each of typed) {
        const { typos, isPrefix } = each;
        const search = { text: typedOf(words, each), typos, isPrefix };
        const { text } = search;
        const { come, beginning } = walk(trie, search);
        const near = held.filter(([, other]) => typoDistance(text, other, typos, isPrefix) !== TOO_FAR);
        expect(near.filter(([number]) => !come.has(number))).toEqual([]);
        // Every found word was added and not removed.
        expect([...come].every((number) => number % 3 !== 0 && number < words.length)).toBe(true);
        const begun = held.filter(([number, other]) => beginning.has(number) && !other.startsWith(text));
        expect(begun).toEqual([]);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('visits only similar words', () => {
  const letters = [...'abcdefghij'];
  const trie = createWordTrie();
  const words = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => `h${a}${b}${c}${c}${b}`)));
  for (const [number, each] of words.entries()) addToTrie(trie, each, number);
  const search = { text: 'habccb', typos: 1, isPrefix: false };
  const near = words.filter((each) => typoDistance(search.text, each, 1, false) !== TOO_FAR);
  expect(walk(trie, search).come.size).toBe(near.length);
});

it('drops the letters of removed words', () => {
  const trie = createWordTrie();
  const words = ['boundary', 'bound', 'layer', 'supersonically', 'supersonicality'];
  for (const round of [1, 2, 3]) {
    for (const [number, each] of words.entries()) addToTrie(trie, each, number);
    for (const [number, each] of words.entries()) removeFromTrie(trie, each, number);
    expect([trie.nodes - 1, round]).toEqual([trie.freeNodes.length, round]);
  }
  expect(trie.nodes).toBe(1 + 'boundary'.length + 'layer'.length + DEEPEST);
});
