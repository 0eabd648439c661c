/** Approximate costs of evaluating a query in nanoseconds: only the ratios matter. */

/** One word of a loop over bits. */
export const WORD_COST = 0.5;
/** One row visited at random, one bit set. */
export const ROW_COST = 1.5;
/** Cost of traversing a link for one row, in either direction. */
export const LINK_COST = 3;
/** Looking for a needle in a text. */
export const VERIFY_COST = 40;
/** Reading and comparing one sort key of a row. */
export const KEY_COST = 30;
