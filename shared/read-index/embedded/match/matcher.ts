import type { IndexedColumn } from '../columns/indexed-column.ts';
import { type Bits, hasBit, orBits } from '../lists/bits.ts';
import { WORD_COST } from '../lists/costs.ts';
import { borrowBits, type RowSetIndex } from '../rows/row-set.ts';

/**
 * A query bound to the rows of one row set and world. It can be evaluated for all rows (`collect`) or for one row (`test`). Callers choose
 * by the estimates. Only existing rows match.
 */
export type Matcher = {
  /** Approximate number of matching rows; an upper bound if that is cheap to get. */
  readonly estimate: number;
  /** True: `estimate` is the number of matching rows. */
  readonly isExact?: boolean;
  /** Approximate nanoseconds of `collect`. */
  readonly cost: number;
  /** Approximate nanoseconds of one `test`. */
  readonly testCost: number;
  /**
   * Adds the matching rows to `into`. If a call ends with its slice, the next call with the same `into` continues. Do not call it again
   * after it has finished.
   */
  readonly collect: (into: Bits) => void;
  readonly test: (row: number) => boolean;
  /**
   * Returns the matching rows if a look-up gives few candidates; undefined otherwise. No set of bits is filled, counted or searched, so the
   * cost does not depend on the number of documents.
   */
  readonly few?: (() => FewRows) | undefined;
  /** All matching rows, if they are known. They must not be changed. */
  readonly bits?: Bits;
  /** Adds nanoseconds to the time that was lost because the matching rows are not kept. */
  readonly missed?: (cost: number) => void;
};

/** Ascending rows. They must not be changed. */
export type FewRows = readonly number[] | Int32Array;

/** Adds the matching rows to `into`, see `Matcher.collect`, and the time for it to what was lost. */
export function collectMatches(matcher: Matcher, into: Bits): void {
  matcher.collect(into);
  matcher.missed?.(matcher.cost);
}

/** Returns all matching rows, which must not be changed. If a call ends with its slice, the next call continues. */
export function createMatchedRows(rowSet: RowSetIndex, matcher: Matcher): () => Bits {
  let rows = matcher.bits;
  let isCollected = rows !== undefined;
  return () => {
    rows ??= borrowBits(rowSet);
    if (!isCollected) collectMatches(matcher, rows);
    isCollected = true;
    return rows;
  };
}

/** Maximum rows of a look-up of values. */
export const FEW_MATCHES = 32;

export const MATCH_NOTHING: Matcher = Object.freeze({
  estimate: 0,
  isExact: true,
  cost: 0,
  testCost: 1,
  collect: () => {},
  test: () => false,
});

/** Matches the rows of a set that other code keeps up to date. */
function matchBits(bits: Bits, count: number, words: number): Matcher {
  return {
    estimate: count,
    isExact: true,
    cost: words * WORD_COST,
    testCost: 2,
    collect: (into) => orBits(into, bits),
    test: (row) => hasBit(bits, row),
    bits,
  };
}

/** Matches the rows that have a value. */
export function matchPresent(rowSet: RowSetIndex, { store }: IndexedColumn): Matcher {
  return matchBits(store.column.present, store.column.presentCount, rowSet.size / 32);
}

/** Matches every existing row. */
export function matchEveryRow(rowSet: RowSetIndex): Matcher {
  return matchBits(rowSet.present, rowSet.count, rowSet.size / 32);
}
