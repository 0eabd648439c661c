import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCountBehind, type EntryLists } from '../../../shared/read-index/count-behind.ts';
import { inSlice, SLICE_OVER } from '../../../shared/turns/slice.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 300);
const ROWS = 12;

function listsOf(links: readonly (readonly number[])[]): EntryLists {
  const pool: number[] = [];
  const heads = links.map((list) => {
    const [first = 0] = list;
    return list.length === 1 ? first : pool.push(...list) - list.length;
  });
  return {
    counts: Int32Array.from(links.map((list) => list.length)),
    heads: Int32Array.from(heads),
    pool: Int32Array.from(pool),
  };
}

type Level = readonly (readonly number[])[];

/** Counts the values of each row by following every path. */
function countWays(
  levels: readonly Level[],
  ends: readonly (readonly number[])[],
  isCounted: (row: number) => boolean,
  values: number,
): number[] {
  const counts = Array.from({ length: values }, () => 0);
  for (const row of (levels[0] ?? ends).keys()) {
    if (!isCounted(row)) continue;
    let rows = [row];
    for (const level of levels) rows = [...new Set(rows.flatMap((each) => level[each] ?? []))];
    for (const value of new Set(rows.flatMap((each) => ends[each] ?? [])))
      counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

function numbers(most: number, length: number) {
  return fc.array(fc.uniqueArray(fc.nat(most - 1), { maxLength: 4 }), { minLength: 1, maxLength: length });
}

/** Runs a step in slices that end as soon as work is counted. */
function inShortSlices<Result>(step: () => Result): Result {
  for (;;) {
    let time = 0;
    const ends = { restsAt: 1, haltsAt: Infinity, refusesAt: Infinity };
    try {
      return inSlice({ now: () => ++time, steps: 1, ...ends, refusal: () => new Error('refused') }, step);
    } catch (error) {
      if (error !== SLICE_OVER) throw error;
    }
  }
}

it('counts each row once for each of its related values, in one piece and in slices', () => {
  const values = 70;
  const levels = fc.array(numbers(ROWS, ROWS), { maxLength: 6 });
  fc.assert(
    fc.property(levels, numbers(values, ROWS), fc.nat(2 ** ROWS - 1), (steps, ends, counted) => {
      const isCounted = (row: number) => (counted & (1 << row)) !== 0;
      const path = {
        levels: steps.map((level) => ({ rows: level.length, lists: listsOf(level) })),
        ends: ends.length,
        values,
        valuesOf: (end: number, add: (value: number) => void) => ends[end]?.forEach(add),
      };
      const wanted = countWays(steps, ends, isCounted, values);
      expect([...createCountBehind(path, isCounted)()]).toEqual(wanted);
      expect([...inShortSlices(createCountBehind(path, isCounted))]).toEqual(wanted);
    }),
    { numRuns: RUNS },
  );
});

it('counts more values than fit into one round', () => {
  const rows = 2 ** 18;
  const values = 1_000;
  const ends = Array.from({ length: values }, (_, value) => [value]);
  const first = { rows, lists: listsOf([[5], [0, values - 1], []]) };
  const second = { rows: values, lists: listsOf(ends.map((_, end) => [end])) };
  const path = {
    levels: [first, second],
    ends: values,
    values,
    valuesOf: (end: number, add: (value: number) => void) => add(end),
  };
  const counts = createCountBehind(path, () => true)();
  expect([...counts.entries()].filter(([, count]) => count > 0)).toEqual([
    ...[0, 5, values - 1].map((value) => [value, 1]),
  ]);
});
