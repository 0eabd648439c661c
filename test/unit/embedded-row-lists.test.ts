import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  appendToList,
  clearList,
  createRowLists,
  fillList,
  indexInList,
  listCount,
  listOrder,
  listValues,
  removeBySwap,
  removeKeepingOrder,
  reserveLists,
} from '../../shared/read-index/embedded/lists/row-lists.ts';

const lists = fc.integer({ min: 0, max: 5 });
const operations = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('append' as const), list: lists, value: fc.nat(50) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('remove' as const), list: lists, value: fc.nat(50) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('clear' as const), list: lists, value: fc.constant(0) }),
    },
  ),
  { maxLength: 300, size: 'max' },
);

it('keeps ordered lists equal to arrays, while they grow, shrink and are reused', () => {
  fc.assert(
    fc.property(operations, (steps) => {
      const stored = createRowLists(true);
      const plain: number[][] = Array.from({ length: 6 }, () => []);
      for (const step of steps) {
        const list = plain[step.list] as number[];
        if (step.do === 'append') {
          appendToList(stored, step.list, step.value, step.value / 2);
          list.push(step.value);
        } else if (step.do === 'remove') {
          const at = list.indexOf(step.value);
          expect(indexInList(stored, step.list, step.value)).toBe(at);
          if (at >= 0) removeKeepingOrder(stored, step.list, at);
          if (at >= 0) list.splice(at, 1);
        } else {
          clearList(stored, step.list);
          list.length = 0;
        }
      }
      expect(plain.map((_, list) => listValues(stored, list))).toEqual(plain);
      const orders = plain.map((values, list) => values.map((_, index) => listOrder(stored, list, index)));
      expect(orders).toEqual(plain.map((values) => values.map((value) => value / 2)));
      expect(stored.total).toBe(plain.flat().length);
    }),
    { numRuns: 200 },
  );
});

it('removes an entry by swapping, without a change of the others', () => {
  const stored = createRowLists(false);
  for (const value of [3, 1, 4, 1, 5]) appendToList(stored, 2, value);
  removeBySwap(stored, 2, 0);
  expect(listValues(stored, 2).sort()).toEqual([1, 1, 4, 5]);
  while (listCount(stored, 2) > 0) removeBySwap(stored, 2, 0);
  expect([listValues(stored, 2), stored.total]).toEqual([[], 0]);
});

it('reuses freed blocks', () => {
  const stored = createRowLists(false);
  for (let round = 0; round < 100; round++) {
    for (let value = 0; value < 100; value++) appendToList(stored, round, value);
    clearList(stored, round);
  }
  // A list of 100 entries has used blocks of 2, 3, 4, 6 and so on, up to 128 slots.
  expect(stored.poolUsed).toBeLessThanOrEqual(443);
});

it('fills lists at once, in the memory that was reserved, and changes them as others', () => {
  const stored = createRowLists(false);
  const counts = Array.from({ length: 300 }, (_, list) => list);
  const most = counts.reduce((sum, count) => sum + Math.max(count, Math.ceil((count * 3) / 2)), 0);
  reserveLists(stored, counts.length, most);
  const { pool } = stored;
  const valuesOf = (count: number) => Array.from({ length: count }, (_, at) => count * 1_000 + at);
  for (const count of counts) fillList(stored, count, valuesOf(count));
  expect(stored.pool).toBe(pool);
  expect(stored.poolUsed).toBeLessThan(stored.total * 1.25);
  for (const count of counts) {
    appendToList(stored, count, 7);
    expect(listValues(stored, count)).toEqual([...valuesOf(count), 7]);
    clearList(stored, count);
    fillList(stored, count, valuesOf(count));
    expect(listValues(stored, count)).toEqual(valuesOf(count));
  }
});
