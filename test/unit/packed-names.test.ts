import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPackedNames, NAME_LENGTH, NAME_WORDS } from '../../services/delivery/packed-names.ts';
import { hmac } from '../../shared/text-digest.ts';
import { nameAt } from '../support/name-at.ts';

const key = Buffer.from('a key');
/** Returns the first 40 bits of the digest in base 36. */
const nameOf = (text: string) => hmac(key, text).readUIntBE(0, 5).toString(36).padStart(NAME_LENGTH, '0');

it('is the beginning of a keyed digest, of one length, however many texts were named before', () => {
  const names = createPackedNames(key);
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 20 }), (texts) => {
      for (const text of texts) {
        const name = nameAt(names.words, names.placeOf(text));
        expect([name, names.textOf(text)]).toEqual([nameOf(text), nameOf(text)]);
        expect(name).toMatch(/^[0-9a-z]{8}$/);
      }
    }),
    { numRuns: 300 },
  );
});

it('names texts again after their memory was used for others', () => {
  const names = createPackedNames(key);
  for (let text = 0; text < 45_000; text++) names.placeOf(String(text));
  for (const text of ['0', '19999', '20000', '44999']) expect(names.textOf(text)).toBe(nameOf(text));
  // The last word of a row's name is never 0.
  for (let at = NAME_WORDS - 1; at < names.words.length; at += NAME_WORDS)
    expect(names.words[at]).toBeGreaterThan(0);
});
