import type { BoolQuery, Scalar } from '../bool-query.ts';
import { type Bits, setBit } from './bits.ts';
import { compareSortValues, type IndexedColumn, sortValue } from './indexed-column.ts';
import { MATCH_NOTHING, type Matcher, ROW_COST } from './matcher.ts';
import type { NumberColumn } from './number-column.ts';
import type { OrderCache } from './order-cache.ts';
import { sortedRows } from './order-cache.ts';
import { collectPosting, postingCount } from './postings.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { distinctTerms, type TermColumn } from './term-column.ts';

/** With more distinct values than this a range is cut out of the sorted rows instead of looking at each value. */
const SCANNED_VALUES = 256;

type Range = Extract<BoolQuery, { kind: 'range' }>;
type Bound = Pick<Range, 'gt' | 'gte' | 'lt' | 'lte'>;

/** Rows whose value is one of `values`. */
export function matchValues(
  orders: OrderCache,
  space: RowSpaceIndex,
  column: IndexedColumn,
  values: readonly Scalar[],
): Matcher {
  if (column.store.kind === 'terms')
    return matchTermNumbers(column.store.column, knownTerms(column.store.column, values));
  const numbers = column.store.column;
  if (numbers.few !== undefined)
    return matchTermNumbers(numbers.few, knownTerms(numbers.few, values.map(Number)));
  return matchNumbers(orders, space, column, numbers, values.map(Number));
}

/** Rows whose value lies within the bounds. */
export function matchRange(
  orders: OrderCache,
  space: RowSpaceIndex,
  column: IndexedColumn,
  range: Bound,
): Matcher {
  const within = withinBounds(column.store.kind === 'numbers' ? numericBounds(range) : range);
  const terms = column.store.kind === 'terms' ? column.store.column : column.store.column.few;
  if (terms !== undefined && distinctTerms(terms) <= SCANNED_VALUES) {
    const numbers: number[] = [];
    terms.values.forEach((value, term) => {
      if (value !== undefined && within(value) === 0) numbers.push(term);
    });
    return matchTermNumbers(terms, numbers);
  }
  return matchStretch(orders, space, column, within);
}

/** Rows that have one of these terms. */
export function matchTermNumbers(column: TermColumn, terms: readonly number[]): Matcher {
  if (terms.length === 0) return MATCH_NOTHING;
  let estimate = 0;
  for (const term of terms) estimate += postingCount(column.postings, term);
  const wanted = terms.length > 4 ? new Set(terms) : terms;
  const test = (row: number) => {
    const term = column.terms[row] as number;
    return wanted instanceof Set ? wanted.has(term) : wanted.includes(term);
  };
  const collect = (into: Bits) => {
    for (const term of terms) collectPosting(column.postings, term, into);
  };
  return { estimate, cost: estimate * ROW_COST, testCost: 4, collect, test };
}

function knownTerms(column: TermColumn, values: readonly Scalar[]): number[] {
  const terms = new Set<number>();
  for (const value of values) {
    const term = column.numbers.get(value);
    if (term !== undefined) terms.add(term);
  }
  return [...terms];
}

function matchNumbers(
  orders: OrderCache,
  space: RowSpaceIndex,
  column: IndexedColumn,
  numbers: NumberColumn,
  values: readonly number[],
): Matcher {
  const stretches = values.map((value) =>
    matchStretch(orders, space, column, withinBounds({ gte: value, lte: value })),
  );
  const [only] = stretches;
  if (only !== undefined && stretches.length === 1) return only;
  const wanted = new Set(values);
  return {
    estimate: stretches.reduce((sum, stretch) => sum + stretch.estimate, 0),
    cost: stretches.reduce((sum, stretch) => sum + stretch.cost, 0),
    testCost: 10,
    collect: (into) => {
      for (const stretch of stretches) stretch.collect(into);
    },
    test: (row) => wanted.has(numbers.values[row] as number),
  };
}

/** The stretch of the rows sorted by `column` whose values `place` puts at 0; below is negative, above positive. */
function matchStretch(
  orders: OrderCache,
  space: RowSpaceIndex,
  column: IndexedColumn,
  place: (value: Scalar) => number,
): Matcher {
  const rows = sortedRows(orders, space, column.field);
  const placeOf = (row: number) => {
    const value = sortValue(column, row);
    return value === null ? 1 : place(value);
  };
  const start = firstWhere(rows, (row) => placeOf(row) >= 0);
  const end = firstWhere(rows, (row) => placeOf(row) > 0);
  return {
    estimate: end - start,
    cost: (end - start) * ROW_COST,
    testCost: 8,
    collect: (into) => {
      for (let i = start; i < end; i++) setBit(into, rows[i] as number);
    },
    test: (row) => placeOf(row) === 0,
  };
}

function firstWhere(rows: Int32Array, holds: (row: number) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(rows[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function withinBounds({ gt, gte, lt, lte }: Bound): (value: Scalar) => number {
  return (value) => {
    if (gt !== undefined && compareSortValues(value, gt) <= 0) return -1;
    if (gte !== undefined && compareSortValues(value, gte) < 0) return -1;
    if (lt !== undefined && compareSortValues(value, lt) >= 0) return 1;
    if (lte !== undefined && compareSortValues(value, lte) > 0) return 1;
    return 0;
  };
}

/** Bounds of a number column: booleans as 0 and 1. */
function numericBounds(range: Bound): Bound {
  const bounds: { -readonly [bound in keyof Bound]: Scalar } = {};
  for (const bound of ['gt', 'gte', 'lt', 'lte'] as const) {
    const value = range[bound];
    if (value !== undefined) bounds[bound] = Number(value);
  }
  return bounds;
}
