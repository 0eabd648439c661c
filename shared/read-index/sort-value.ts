import { compareCodePoints } from './column.ts';

/** A value that orders rows: that of an attribute, or the rank of a publication state. */
export type SortValue = string | number | bigint | boolean | null;

/** Compares sort values. NULL is greater than every value (SEMANTICS section 7). Text is in code point order. */
export function compareSortValues(a: SortValue, b: SortValue): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}
