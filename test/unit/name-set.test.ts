import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNameSet } from '../../services/delivery/name-set.ts';

const MOST = 40;

it('has each name once, up to as many as expected, for one answer after the other', () => {
  const name = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    // The last bits are equal.
    fc.integer({ min: 0, max: 2 ** 20 }).map((high) => high * 2 ** 28),
    fc.integer({ min: 0, max: 5 }),
  );
  const answer = fc.record({
    expected: fc.integer({ min: 0, max: 2 * MOST }),
    names: fc.array(name, { maxLength: 2 * MOST }),
  });
  const set = createNameSet(MOST);
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 5 }), (answers) => {
      for (const { expected, names } of answers) {
        set.clear(expected);
        const has = new Set<number>();
        for (const one of names) {
          const fits = has.has(one) || has.size < Math.min(expected, MOST);
          expect(set.add(one)).toBe(fits);
          if (fits) has.add(one);
        }
        expect([...set.names.subarray(0, set.size())]).toEqual([...has]);
      }
    }),
    { numRuns: 1_000 },
  );
});
