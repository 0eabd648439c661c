import { firstWhere } from '../../../first-where.ts';
import type { SortPosition } from '../../read-index.ts';
import { sortValue } from '../columns/indexed-column.ts';
import { hasBit } from '../lists/bits.ts';
import { type BoundSortKey, compareByKey, createKeyReaders, type KeyReader } from '../rows/key-reader.ts';
import type { RowSetIndex } from '../rows/row-set.ts';

/** Returns the index of the first row after `after` in `rows`, which are in the order of the keys. */
export function firstBehind(keys: readonly BoundSortKey[], rows: Int32Array, after: SortPosition): number {
  const readers = createKeyReaders(keys);
  return firstWhere(rows.length, (at) => isRowBehind(keys, readers, rows[at] as number, after));
}

/** Returns the position of a row in the order of the keys. */
export function positionOf(keys: readonly BoundSortKey[], row: number): SortPosition {
  return createKeyReaders(keys).map((read) => {
    const value = read(row);
    return typeof value === 'boolean' ? Number(value) : value;
  });
}

/** Returns the first row with an id above `id`, in a row set whose ids ascend. Skips ordinals of deleted rows, which have no id. */
export function firstRowBehindId(rowSet: RowSetIndex, id: number): number {
  let low = 0;
  let high = rowSet.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    let row = middle;
    while (row < high && !hasBit(rowSet.present, row)) row++;
    if (row === high || (sortValue(rowSet.ids, row) as number) > id) high = middle;
    else low = row + 1;
  }
  return low;
}

/** Returns whether a row is after a position in the order of the keys. */
function isRowBehind(
  keys: readonly BoundSortKey[],
  readers: readonly KeyReader[],
  row: number,
  after: SortPosition,
): boolean {
  return compareToPosition(keys, readers, row, after) > 0;
}

/** Compares a row with a position in the order of the keys. */
export function compareToPosition(
  keys: readonly BoundSortKey[],
  readers: readonly KeyReader[],
  row: number,
  after: SortPosition,
): number {
  for (const [at, read] of readers.entries()) {
    const order = compareByKey(keys[at] as BoundSortKey, read(row), after[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}
