import { firstWhere } from '../../../first-where.ts';
import { rest } from '../../../turns/slice.ts';
import type { BoolQuery, Scalar } from '../../bool-query.ts';
import { compareSortValues } from '../../sort-value.ts';
import { type IndexedColumn, sortValue } from '../columns/indexed-column.ts';
import { setBits } from '../lists/bits.ts';
import { ROW_COST } from '../lists/costs.ts';
import { type OrderCache, sortedRows } from '../order/order-cache.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { Matcher } from './matcher.ts';

/** Rows between two checks of the clock. */
const AT_ONCE = 16_384;

export type Bounds = Pick<Extract<BoolQuery, { kind: 'range' }>, 'gt' | 'gte' | 'lt' | 'lte'>;

/** Returns the position of a value relative to a range of the sorted values: before it (negative), in it (0) or after it. */
type Side = (value: Scalar) => number;

/** Matches a range of the rows sorted by `column`: those for whose values `side` returns 0. */
export function matchStretch(
  orders: OrderCache,
  rowSet: RowSetIndex,
  column: IndexedColumn,
  side: Side,
): Matcher {
  const rows = sortedRows(orders, rowSet, column.field);
  const sideOf = (row: number) => {
    const value = sortValue(column, row);
    return value === null ? 1 : side(value);
  };
  const start = firstWhere(rows.length, (at) => sideOf(rows[at] as number) >= 0);
  const end = firstWhere(rows.length, (at) => sideOf(rows[at] as number) > 0);
  let next = start;
  return {
    estimate: end - start,
    isExact: true,
    cost: (end - start) * ROW_COST,
    testCost: 8,
    collect: (into) => {
      while (next < end) {
        const stop = Math.min(end, next + AT_ONCE);
        setBits(into, rows, next, stop);
        next = stop;
        rest(AT_ONCE / 8);
      }
    },
    test: (row) => sideOf(row) === 0,
  };
}

/** Matches rows of a column of many numbers that have one of `values`. */
export function matchStretches(
  orders: OrderCache,
  rowSet: RowSetIndex,
  column: IndexedColumn,
  values: readonly number[],
): Matcher {
  const stretches = values.map((value) =>
    matchStretch(orders, rowSet, column, withinBounds({ gte: value, lte: value })),
  );
  const [only] = stretches;
  if (only !== undefined && stretches.length === 1) return only;
  const wanted = new Set<unknown>(values);
  return {
    estimate: stretches.reduce((sum, stretch) => sum + stretch.estimate, 0),
    cost: stretches.reduce((sum, stretch) => sum + stretch.cost, 0),
    testCost: 10,
    collect: (into) => {
      // A stretch that was already collected has nothing left to do.
      for (const stretch of stretches) stretch.collect(into);
    },
    test: (row) => wanted.has(sortValue(column, row)),
  };
}

/** Returns a function for the position of values relative to bounds. Several bounds apply together. */
export function withinBounds({ gt, gte, lt, lte }: Bounds): Side {
  return (value) => {
    if (gt !== undefined && compareSortValues(value, gt) <= 0) return -1;
    if (gte !== undefined && compareSortValues(value, gte) < 0) return -1;
    if (lt !== undefined && compareSortValues(value, lt) >= 0) return 1;
    if (lte !== undefined && compareSortValues(value, lte) > 0) return 1;
    return 0;
  };
}
