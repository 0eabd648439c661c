import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNameSet } from '../../services/delivery/name-set.ts';
import { formOf } from '../../services/delivery/tag-headers.ts';
import { createWriteNames } from '../../services/delivery/write-names.ts';

const LONGEST = 2 ** 48 - 1;

it('writes names as numbers in base 36, without zeros before them', () => {
  const name = fc.oneof(
    fc.integer({ min: 0, max: LONGEST }),
    fc.integer({ min: 0, max: 2_000 }),
    // Around each number of digits.
    fc
      .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -2, max: 2 }))
      .map(([digits, more]) => Math.max(0, 36 ** digits + more)),
  );
  const write = createWriteNames(formOf('varnish', 6_144));
  const names = createNameSet(100);
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 50 }), (all) => {
      names.clear(all.length);
      for (const one of all) names.add(one);
      expect(write(names, new Set())).toBe(all.map((one) => one.toString(36)).join(' '));
    }),
    { numRuns: 1_000 },
  );
});
