import { type Bits, hasBit, orBits } from './bits.ts';
import { WORD_COST } from './costs.ts';
import type { RowSpaceIndex } from './row-space.ts';

/**
 * A query bound to the rows of one space and world. It can be answered for all rows at once (`collect`) or for one (`test`),
 * whichever the estimates say is cheaper where it stands. Only live rows match.
 */
export type Matcher = {
  /** Rows that match, about; an upper bound where one is cheap to get. */
  readonly estimate: number;
  /** Nanoseconds of `collect`, about. */
  readonly cost: number;
  /** Nanoseconds of one `test`, about. */
  readonly testCost: number;
  /** into |= the rows that match. Asked once: where that ends with its slice, the next call with the same `into` goes on with it. */
  readonly collect: (into: Bits) => void;
  readonly test: (row: number) => boolean;
};

export const MATCH_NOTHING: Matcher = Object.freeze({
  estimate: 0,
  cost: 0,
  testCost: 1,
  collect: () => {},
  test: () => false,
});

/** The rows of a set kept up to date elsewhere; `bits` is read when the matcher is asked. */
export function matchBits(bits: () => Bits, count: number, words: number): Matcher {
  return {
    estimate: count,
    cost: words * WORD_COST,
    testCost: 2,
    collect: (into) => orBits(into, bits()),
    test: (row) => hasBit(bits(), row),
  };
}

export function matchEveryRow(space: RowSpaceIndex): Matcher {
  return matchBits(() => space.live, space.count, space.size / 32);
}
