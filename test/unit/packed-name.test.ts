import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NAME_WORDS, packName } from '../../services/delivery/packed-name.ts';
import { unpackName } from '../support/unpack-name.ts';

const LONGEST = 2 ** 48 - 1;

it('is the name in base 36, without zeros before it, whatever was packed before', () => {
  const name = fc.oneof(
    fc.integer({ min: 0, max: LONGEST }),
    fc.integer({ min: 0, max: 2_000 }),
    // Around each number of digits.
    fc
      .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -2, max: 2 }))
      .map(([digits, more]) => Math.max(0, 36 ** digits + more)),
  );
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 20 }), (names) => {
      const words = new Uint32Array(names.length * NAME_WORDS);
      for (const [i, one] of names.entries()) packName(one, words, i * NAME_WORDS);
      expect(names.map((_, i) => unpackName(words, i * NAME_WORDS))).toEqual(
        names.map((one) => one.toString(36)),
      );
      // The last word of a note on a row tells whether there is one.
      for (let i = 1; i <= names.length; i++) expect(words[i * NAME_WORDS - 1]).toBeGreaterThan(0);
    }),
    { numRuns: 1_000 },
  );
});
