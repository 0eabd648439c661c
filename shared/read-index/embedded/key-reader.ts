import { compareSortValues, type IndexedColumn, type SortValue, sortValue } from './indexed-column.ts';
import { listCount, listEntry } from './row-lists.ts';
import type { Step } from './row-space.ts';
import { spend } from './time-limit.ts';

/** A sort key bound to a row space and world. */
export type BoundSortKey = {
  readonly steps: readonly Step[];
  readonly column: IndexedColumn;
  readonly descending: boolean;
};

/** What a row is sorted by. */
export type KeyReader = (row: number) => SortValue;

/**
 * Reads a key: of all values at the ends of the path the smallest (asc) or largest (desc); no end is NULL (SEMANTICS section 7).
 * A row on the way is worked out once, however many paths lead through it, so that the work grows with the links and not with
 * the paths, of which a few steps to and fro make billions. Valid until the next change of the index.
 */
export function createKeyReader(key: BoundSortKey): KeyReader {
  let read: KeyReader = (row) => sortValue(key.column, row);
  for (let level = key.steps.length - 1; level >= 0; level--) {
    read = readBest(key.steps[level] as Step, key.descending, read);
    // The outermost rows are read once by themselves, the innermost cost no more than looking them up.
    if (level > 0) read = readOnce(read);
  }
  return read;
}

export function createKeyReaders(keys: readonly BoundSortKey[]): readonly KeyReader[] {
  return keys.map(createKeyReader);
}

function readBest({ down: { lists } }: Step, descending: boolean, read: KeyReader): KeyReader {
  return (row) => {
    const count = listCount(lists, row);
    if (count === 0) return null;
    spend(count);
    let best = read(listEntry(lists, row, 0));
    for (let index = 1; index < count; index++) {
      const value = read(listEntry(lists, row, index));
      const order = compareSortValues(value, best);
      if (descending ? order > 0 : order < 0) best = value;
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
