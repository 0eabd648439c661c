/** Approximate costs of evaluating a query, in nanoseconds. Only their ratios matter. */

/** Cost of one word in a loop over bits. */
export const WORD_COST = 0.5;
/** Cost of visiting a row at random, or of setting a bit. */
export const ROW_COST = 1.5;
/** Cost of traversing a link for one row, in either direction. */
export const LINK_COST = 3;
/** Cost of a search for a needle in a text. */
export const VERIFY_COST = 40;
/** Cost of reading and comparing one sort key of a row. */
export const KEY_COST = 30;
