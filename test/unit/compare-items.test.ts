import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareItems } from '../../projections/generations/compare-items.ts';
import type { Item } from '../../projections/generations/digest.ts';

const METER = { worked: async () => {} };
const LIMIT = 100;

const item = fc.record({
  group: fc.constantFrom('rows', 'links'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  content: fc.constantFrom('1', '2'),
});
/** Generates one side: items with distinct names in any order, divided into parts of any length. */
const side = fc
  .uniqueArray(item, { selector: ({ group, name }) => `${group} ${name}` })
  .chain((items) => fc.tuple(fc.constant(items), fc.array(fc.nat(4), { maxLength: 8 })));
type Side = readonly [items: readonly Item[], lengths: readonly number[]];

function* slicesOf([items, lengths]: Side): Generator<readonly Item[]> {
  let at = 0;
  for (const length of lengths) {
    yield items.slice(at, at + length);
    at += length;
  }
  yield items.slice(at);
}

async function* laterSlicesOf(of: Side): AsyncGenerator<readonly Item[]> {
  yield* slicesOf(of);
}

/** Returns the keys of the items that one side lacks or that have another content there. */
function naiveDifferences([before]: Side, [after]: Side): readonly string[] {
  const contents = (items: readonly Item[]) =>
    new Map(items.map(({ group, name, content }) => [`${group} ${name}`, content]));
  const [a, b] = [contents(before), contents(after)];
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key)).sort();
}

it('finds the items that differ, for any order and slices of each side', async () => {
  await fc.assert(
    fc.asyncProperty(side, side, async (before, after) => {
      const { differences, count } = await compareItems(
        () => slicesOf(before),
        () => laterSlicesOf(after),
        METER,
        LIMIT,
      );
      const keys = differences.map(({ group, name }) => `${group} ${name}`).sort();
      expect(keys).toEqual(naiveDifferences(before, after));
      expect(count).toBe(keys.length);
    }),
    { numRuns: 2_000 },
  );
});

it('finds no difference between two orders of the same items', async () => {
  await fc.assert(
    fc.asyncProperty(side, fc.nat(6), async ([items, lengths], turn) => {
      const turned = [...items.slice(turn), ...items.slice(0, turn)];
      const found = await compareItems(
        () => slicesOf([items, lengths]),
        () => slicesOf([turned, []]),
        METER,
        LIMIT,
      );
      expect(found).toEqual({ differences: [], count: 0 });
    }),
  );
});

it('counts the items of both sides as work', async () => {
  const items = Array.from({ length: 5 }, (_, at) => ({ group: 'rows', name: String(at), content: '' }));
  let worked = 0;
  const meter = {
    async worked(count: number) {
      worked += count;
    },
  };
  await compareItems(
    () => slicesOf([items, [2]]),
    () => slicesOf([items.slice(0, 3), []]),
    meter,
    LIMIT,
  );
  // The first step reads five and three items. The second one reads both sides of the differing groups again.
  expect(worked).toBe(8 + 8);
});
