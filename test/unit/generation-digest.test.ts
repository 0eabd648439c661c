import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createComparison,
  createDigestSum,
  differingGroups,
  type Item,
} from '../../projections/generations/digest.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200);
const item = fc.record({
  group: fc.constantFrom('rows of a', 'rows of b', 'links of a'),
  name: fc.string({ maxLength: 4 }),
  content: fc.string({ maxLength: 4 }),
});
/** Generates the items of a generation. Names are unique within a group. */
const items = fc.uniqueArray(item, {
  maxLength: 30,
  selector: ({ group, name }) => JSON.stringify([group, name]),
});

function digestOf(all: readonly Item[]) {
  const sum = createDigestSum();
  for (const each of all) sum.add(each);
  return sum.digest();
}

function compare(before: readonly Item[], after: readonly Item[], limit = 1_000) {
  const comparison = createComparison(limit);
  for (const each of before) comparison.before(each);
  for (const each of after) comparison.after(each);
  return comparison.result();
}

describe('digests of generations', () => {
  it('are the same for the same items in any order', () => {
    const shuffled = items.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        expect(differingGroups(digestOf(all), digestOf(other))).toEqual([]);
        expect(compare(all, other)).toEqual({ differences: [], count: 0 });
      }),
      { numRuns: RUNS },
    );
  });

  it('differ in exactly the groups whose items differ, and the comparison names these items', () => {
    fc.assert(
      fc.property(items, items, (before, after) => {
        const { differences, count } = compare(before, after);
        expect(count).toBe(differences.length);
        const groups = [...new Set(differences.map(({ group }) => group))].sort();
        expect(differingGroups(digestOf(before), digestOf(after))).toEqual(groups);
        const restored = new Map(
          before.map((each) => [JSON.stringify([each.group, each.name]), each.content]),
        );
        for (const { group, name, after: now } of differences) {
          if (now === undefined) restored.delete(JSON.stringify([group, name]));
          else restored.set(JSON.stringify([group, name]), now);
        }
        const wanted = new Map(after.map((each) => [JSON.stringify([each.group, each.name]), each.content]));
        expect(restored).toEqual(wanted);
      }),
      { numRuns: RUNS },
    );
  });

  it('distinguish where a name ends and its content begins', () => {
    const [a, b] = [
      { group: 'g', name: '1', content: '23' },
      { group: 'g', name: '12', content: '3' },
    ];
    expect(differingGroups(digestOf([a as Item]), digestOf([b as Item]))).toEqual(['g']);
  });

  it('show at most the requested number of differences, and count them all', () => {
    const all = Array.from({ length: 10 }, (_, i) => ({ group: 'g', name: String(i), content: 'x' }));
    const { differences, count } = compare(all, [], 3);
    expect([differences.length, count]).toEqual([3, 10]);
  });
});
