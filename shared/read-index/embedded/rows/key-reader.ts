import { halt } from '../../../turns/slice.ts';
import { compareSortValues, type SortValue } from '../../sort-value.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { listCount, listEntry } from '../lists/row-lists.ts';
import type { Step } from './row-set.ts';

/** Links that are read between two checks of the clock. */
const READ_AT_ONCE = 1_024;

/** A sort key bound to a row set and world. */
export type BoundSortKey = {
  readonly steps: readonly Step[];
  /** Reads the value of a row at the end of the steps. */
  readonly read: KeyReader;
  /** Columns of that row on which the value depends. */
  readonly columns: readonly IndexedColumn[];
  readonly descending: boolean;
  /** True: NULL comes last in a descending order too. */
  readonly nullLast: boolean;
};

/** Compares two values of a key in its order. */
export function compareByKey({ descending, nullLast }: BoundSortKey, a: SortValue, b: SortValue): number {
  const order = compareSortValues(a, b);
  return descending && !(nullLast && (a === null || b === null)) ? -order : order;
}

/** Reads the sort value of a row. */
export type KeyReader = (row: number) => SortValue;

/**
 * Creates a reader of a key. If the path has several ends, it reads the smallest value (asc) or the largest (desc). If the path has no end,
 * the value is NULL (SEMANTICS section 7). A reader computes each row on the path once, even if many paths lead through the row. So the
 * work grows with the links, not with the paths: a few steps back and forth make billions of paths. A reader is valid until the next change
 * of the index. If a call ends with its slice, the next call for that row continues.
 */
export function createKeyReader(key: BoundSortKey): KeyReader {
  let { read } = key;
  for (let level = key.steps.length - 1; level >= 0; level--) {
    read = readBest(key.steps[level] as Step, key.descending, read);
    // The outermost rows are read only once, and the innermost cost no more than a look-up. So the results of both are not cached.
    if (level > 0) read = readOnce(read);
  }
  return read;
}

/** Creates readers of keys for comparisons, which read a row several times. */
export function createKeyReaders(keys: readonly BoundSortKey[]): readonly KeyReader[] {
  return keys.map((key) => {
    const read = createKeyReader(key);
    return key.steps.length === 0 ? read : readOnce(read);
  });
}

function readBest({ down: { lists } }: Step, descending: boolean, read: KeyReader): KeyReader {
  const isBetter = (value: SortValue, best: SortValue) => {
    const order = compareSortValues(value, best);
    return descending ? order > 0 : order < 0;
  };
  /** Progress in rows with too many links to read between two checks of the clock. */
  const halted = new Map<number, { next: number; best: SortValue }>();
  const readMany = (row: number, count: number) => {
    const state = halted.get(row) ?? { next: 1, best: read(listEntry(lists, row, 0)) };
    halted.set(row, state);
    for (; state.next < count; state.next++) {
      if (state.next % READ_AT_ONCE === 0) halt(READ_AT_ONCE);
      const value = read(listEntry(lists, row, state.next));
      if (isBetter(value, state.best)) state.best = value;
    }
    halted.delete(row);
    return state.best;
  };
  return (row) => {
    const count = listCount(lists, row);
    if (count === 0) return null;
    if (count > READ_AT_ONCE) return readMany(row, count);
    halt(count);
    let best = read(listEntry(lists, row, 0));
    for (let index = 1; index < count; index++) {
      const value = read(listEntry(lists, row, index));
      if (isBetter(value, best)) best = value;
    }
    return best;
  };
}

function readOnce(read: KeyReader): KeyReader {
  const known = new Map<number, SortValue>();
  return (row) => {
    const before = known.get(row);
    if (before !== undefined) return before;
    const value = read(row);
    known.set(row, value);
    return value;
  };
}
