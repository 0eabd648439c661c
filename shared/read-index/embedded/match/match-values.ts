import { PART, rest } from '../../../turns/slice.ts';
import type { Scalar } from '../../bool-query.ts';
import { type Dictionary, distinctTerms } from '../columns/dictionary.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { fewValues } from '../columns/number-column.ts';
import { dictionaryOf } from '../columns/term-column.ts';
import type { Bits } from '../lists/bits.ts';
import { collectPosting, hasFewRows, postingCost, postingCount } from '../lists/postings.ts';
import { listValues } from '../lists/row-lists.ts';
import type { OrderCache } from '../order/order-cache.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { type Bounds, matchStretch, matchStretches, withinBounds } from './match-stretch.ts';
import { FEW_MATCHES, MATCH_NOTHING, type Matcher } from './matcher.ts';

/** Number of distinct values above which a range comes from the sorted rows, without a check of each value. */
const SCANNED_VALUES = 256;

/** Matches rows whose value is one of `values`. */
export function matchValues(
  orders: OrderCache,
  rowSet: RowSetIndex,
  column: IndexedColumn,
  values: readonly Scalar[],
): Matcher {
  if (column.store.kind === 'terms')
    return matchKnown(dictionaryOf(column.store.column, rowSet.size), values);
  const numbers = values.map(Number);
  const few = fewValues(column.store.column, rowSet.size);
  return few === undefined ? matchStretches(orders, rowSet, column, numbers) : matchKnown(few, numbers);
}

/** Matches rows whose value is within the bounds. */
export function matchRange(
  orders: OrderCache,
  rowSet: RowSetIndex,
  column: IndexedColumn,
  bounds: Bounds,
): Matcher {
  const { store } = column;
  const isNumber = store.kind === 'numbers';
  const within = withinBounds(isNumber ? numericBounds(bounds) : bounds);
  const distinct = isNumber ? fewValues(store.column, rowSet.size) : dictionaryOf(store.column, rowSet.size);
  if (distinct === undefined || distinctTerms(distinct) > SCANNED_VALUES) {
    return matchStretch(orders, rowSet, column, within);
  }
  const terms: number[] = [];
  distinct.values.forEach((value, term) => {
    if (value !== undefined && within(value) === 0) terms.push(term);
  });
  return matchTerms(distinct, terms);
}

function matchKnown(dictionary: Dictionary, values: readonly Scalar[]): Matcher {
  const terms = new Set<number>();
  for (const value of values) {
    const term = dictionary.numbers.get(value);
    if (term !== undefined) terms.add(term);
  }
  return matchTerms(dictionary, [...terms]);
}

/** Matches rows that have one of these terms. */
function matchTerms(dictionary: Dictionary, terms: readonly number[]): Matcher {
  const [only] = terms;
  if (only === undefined) return MATCH_NOTHING;
  let estimate = 0;
  let cost = 0;
  for (const term of terms) {
    estimate += postingCount(dictionary.postings, term);
    cost += postingCost(dictionary.postings, term);
  }
  let next = 0;
  const collect = (into: Bits) => {
    while (next < terms.length) {
      collectPosting(dictionary.postings, terms[next] as number, into);
      next++;
      if ((next & 15) === 0) rest(PART);
    }
  };
  if (terms.length === 1) {
    const bits = dictionary.postings.dense[only]?.bits;
    const test = (row: number) => dictionary.terms[row] === only;
    const few = () => listValues(dictionary.postings.lists, only).sort((a, b) => a - b);
    const isFew = hasFewRows(dictionary.postings, only, FEW_MATCHES);
    const exact = { estimate, isExact: true, cost, testCost: 2, collect, test, few: isFew ? few : undefined };
    return bits === undefined ? exact : { ...exact, bits };
  }
  const wanted = new Set(terms);
  const test = (row: number) => wanted.has(dictionary.terms[row] as number);
  return { estimate, isExact: true, cost, testCost: 6, collect, test };
}

/** Returns bounds for a number column, in which booleans are 0 and 1. */
function numericBounds(bounds: Bounds): Bounds {
  const numeric: { -readonly [bound in keyof Bounds]: Scalar } = {};
  for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
    const value = bounds[name];
    if (value !== undefined) numeric[name] = Number(value);
  }
  return numeric;
}
