import { type Bits, hasBit, orBits } from './bits.ts';
import { WORD_COST } from './costs.ts';
import type { IndexedColumn } from './indexed-column.ts';
import type { RowSetIndex } from './row-set.ts';

/**
 * A query bound to the rows of one row set and world. It can be answered for all rows at once (`collect`) or for one
 * (`test`), whichever the estimates say is cheaper. Only existing rows match.
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
   * The rows that match, ascending, when a lookup gives at most FEW_MATCHES candidates: no set of bits is filled, counted or
   * searched, so the cost does not depend on the number of documents. Undefined otherwise.
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

/** Rows of a set that is kept up to date elsewhere; reads `bits` when the matcher runs. */
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
