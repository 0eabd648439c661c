import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNameHeader, type NameHeader } from '../../services/delivery/name-header.ts';
import { NAME_WORDS } from '../../services/delivery/packed-names.ts';
import type { TagForm } from '../../services/delivery/tag-headers.ts';

const MOST = 40;
const FORMS: readonly TagForm[] = [
  { tags: MOST, bytes: 300, separator: ' ', quote: '' },
  { tags: MOST, bytes: 300, separator: ', ', quote: '"' },
  { tags: MOST, bytes: 6_000, separator: ',', quote: '' },
];

function add(header: NameHeader, name: string): boolean {
  const words = new Uint32Array(NAME_WORDS + 2);
  Buffer.from(words.buffer).write(name, 8, 'latin1');
  return header.add(words, 2);
}

/** Generates halves of names, so that many names have the same beginning or the same end. */
const half = fc.constantFrom('0000', '0001', 'zzzz', 'a2c4');
const name = fc.oneof(
  fc.stringMatching(/^[0-9a-z]{8}$/),
  fc.tuple(half, half).map((halves) => halves.join('')),
);
const answer = fc.record({
  expected: fc.integer({ min: 0, max: 2 * MOST }),
  names: fc.array(name, { maxLength: 2 * MOST }),
  plain: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,60}$/), { maxLength: 3 }),
});

it.each(FORMS)('has each name once, as long as there is space, for successive answers: %o', (form) => {
  const header = createNameHeader(form);
  const written = (texts: readonly string[]) =>
    texts.map((text) => form.quote + text + form.quote).join(form.separator);
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 5 }), (answers) => {
      for (const { expected, names, plain } of answers) {
        header.begin(expected);
        const has = new Set<string>();
        for (const text of names) {
          const fits =
            has.has(text) ||
            (has.size < Math.min(expected, MOST) && written([...has, text]).length <= form.bytes);
          expect(add(header, text)).toBe(fits);
          if (fits) has.add(text);
        }
        if (has.size === 0) continue;
        const all = [...has, ...plain];
        const hasRoom = all.length <= MOST && written(all).length <= form.bytes;
        expect(header.end(new Set(plain))).toBe(hasRoom ? written(all) : undefined);
      }
    }),
    { numRuns: 500 },
  );
});
