import { type Bits, hasBit, orBits } from './bits.ts';
import { WORD_COST } from './costs.ts';
import type { IndexedColumn } from './indexed-column.ts';
import type { RowSetIndex } from './row-set.ts';

/**
 * A query bound to the rows of one row set and world. It can be answered for all rows (`collect`) or for one row (`test`). Callers choose
 * by the estimates. Only existing rows match.
 */
export type Matcher = {
  /** Rows that match, about; an upper bound where one is cheap to get. */
  readonly estimate: number;
  /** Nanoseconds of `collect`, about. */
  readonly cost: number;
  /** Nanoseconds of one `test`, about. */
  readonly testCost: number;
  /**
   * Computes into |= matching rows. Called once; if it ends with its slice, the next call with the same `into`
   * continues.
   */
  readonly collect: (into: Bits) => void;
  readonly test: (row: number) => boolean;
  /**
   * Returns the matching rows, ascending, if a look-up gives at most FEW_MATCHES candidates; undefined otherwise. No set of bits is filled,
   * counted or searched, so the cost does not depend on the number of documents.
   */
  readonly few?: (() => readonly number[]) | undefined;
};

/** Most rows of `few`. */
export const FEW_MATCHES = 32;

export const MATCH_NOTHING: Matcher = Object.freeze({
  estimate: 0,
  cost: 0,
  testCost: 1,
  collect: () => {},
  test: () => false,
});

/** Matches rows of a set that is kept up to date elsewhere. Calls `bits` when the matcher runs. */
function matchBits(bits: () => Bits, count: number, words: number): Matcher {
  return {
    estimate: count,
    cost: words * WORD_COST,
    testCost: 2,
    collect: (into) => orBits(into, bits()),
    test: (row) => hasBit(bits(), row),
  };
}

/** Matches the rows that have a value. */
export function matchPresent(rowSet: RowSetIndex, { store }: IndexedColumn): Matcher {
  return matchBits(() => store.column.present, store.column.presentCount, rowSet.size / 32);
}

/** Matches every existing row. */
export function matchEveryRow(rowSet: RowSetIndex): Matcher {
  return matchBits(() => rowSet.present, rowSet.count, rowSet.size / 32);
}
