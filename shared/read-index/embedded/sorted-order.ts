import { hasBit, selectRows, setBit } from './bits.ts';
import { type BoundSortKey, createKeyReaders, type KeyReader } from './key-reader.ts';
import { listCount, listEntry } from './row-lists.ts';
import { borrowBits, type RowSpaceIndex, releaseBits, type Step } from './row-space.ts';
import { compareRows, sortRows } from './sort-rows.ts';
import type { Watchers } from './watchers.ts';

/**
 * The live rows of a space in one sort order, kept across writes: a change marks the rows whose place it may move, the next
 * reader takes those out and puts them in again. A change that moves too many rows drops the order; it is then built anew.
 */
export type SortedOrder = {
  readonly space: RowSpaceIndex;
  readonly keys: readonly BoundSortKey[];
  /** The first `count` are valid. */
  rows: Int32Array;
  count: number;
  built: boolean;
  readonly moved: Set<number>;
  /** Nanoseconds, about, that doing without this order has cost so far. */
  missed: number;
  readonly stopWatching: (() => void)[];
};

export function createSortedOrder(space: RowSpaceIndex, keys: readonly BoundSortKey[]): SortedOrder {
  return {
    space,
    keys,
    rows: new Int32Array(0),
    count: 0,
    built: false,
    moved: new Set(),
    missed: 0,
    stopWatching: [],
  };
}

/** The rows in order, as of now. */
export function currentRows(order: SortedOrder): Int32Array {
  if (!order.built) build(order);
  else if (order.moved.size > 0) putMovedRows(order);
  return order.rows.subarray(0, order.count);
}

/** Ends the order's upkeep. */
export function releaseOrder(order: SortedOrder): void {
  for (const stop of order.stopWatching) stop();
  order.stopWatching.length = 0;
  order.built = false;
}

function build(order: SortedOrder): void {
  const { space } = order;
  order.rows = sortRows(order.keys, selectRows(space.live, 0, space.count));
  order.count = order.rows.length;
  keepBuilt(order);
}

/** What is there now is the order, but for rows that are marked from now on. */
export function keepBuilt(order: SortedOrder): void {
  order.moved.clear();
  order.missed = 0;
  order.built = true;
  if (order.stopWatching.length === 0) watch(order);
}

/** Rows that come and go are told of by their id, the last key. */
function watch(order: SortedOrder): void {
  for (const key of order.keys) {
    key.steps.forEach(({ down }, level) => {
      listen(order, down.watchers, (row) => markRoots(order, key, row, level));
    });
    listen(order, key.column.watchers, (row) => markRoots(order, key, row, key.steps.length));
  }
}

function listen(order: SortedOrder, watchers: Watchers, watcher: (row: number) => void): void {
  watchers.add(watcher);
  order.stopWatching.push(() => watchers.delete(watcher));
}

/** Marks the rows that reach `row` by the first `level` steps of the key, level by level: many paths may lead to one row. */
function markRoots(order: SortedOrder, key: BoundSortKey, row: number, level: number): void {
  if (!order.built) return;
  let reached: Iterable<number> = [row];
  for (let at = level - 1; at >= 0; at--) {
    const { lists } = (key.steps[at] as Step).up;
    const above = new Set<number>();
    for (const below of reached) {
      const count = listCount(lists, below);
      for (let index = 0; index < count; index++) above.add(listEntry(lists, below, index));
    }
    reached = above;
  }
  for (const root of reached) mark(order, root);
}

/** The row has to be put in its place anew. */
export function mark(order: SortedOrder, row: number): void {
  if (!order.built) return;
  order.moved.add(row);
  // Putting half of the rows back one by one costs as much as sorting all.
  if (order.moved.size <= 64 + order.count / 2) return;
  order.built = false;
  order.moved.clear();
}

function putMovedRows(order: SortedOrder): void {
  // Comparing may end with the query's time. Rows are missing then: the order is built anew when it is wanted again.
  order.built = false;
  takeOut(order);
  const { space, keys } = order;
  const back = [...order.moved].filter((row) => hasBit(space.live, row));
  const readers = createKeyReaders(keys);
  back.sort((a, b) => compareRows(keys, readers, a, b));
  order.moved.clear();
  putIn(order, readers, back);
  order.built = true;
}

/** Removes the moved rows, wherever they stand. */
function takeOut(order: SortedOrder): void {
  const { rows, moved } = order;
  if (moved.size <= 4) {
    for (const row of moved) {
      const at = rows.indexOf(row);
      if (at < 0 || at >= order.count) continue;
      rows.copyWithin(at, at + 1, order.count);
      order.count--;
    }
    return;
  }
  const marked = borrowBits(order.space);
  for (const row of moved) setBit(marked, row);
  let kept = 0;
  for (let i = 0; i < order.count; i++) {
    const row = rows[i] as number;
    rows[kept] = row;
    if (!hasBit(marked, row)) kept++;
  }
  releaseBits(order.space, marked);
  order.count = kept;
}

/** Inserts sorted rows, from the last to the first, so that each stretch between them moves once. */
function putIn(order: SortedOrder, readers: readonly KeyReader[], sorted: readonly number[]): void {
  const total = order.count + sorted.length;
  if (total > order.rows.length) {
    const longer = new Int32Array(Math.ceil(total * 1.25));
    longer.set(order.rows.subarray(0, order.count));
    order.rows = longer;
  }
  let end = order.count;
  for (let i = sorted.length - 1; i >= 0; i--) {
    const row = sorted[i] as number;
    const at = placeFor(order, readers, row, end);
    order.rows.copyWithin(at + i + 1, at, end);
    order.rows[at + i] = row;
    end = at;
  }
  order.count = total;
}

function placeFor(
  { rows, keys }: SortedOrder,
  readers: readonly KeyReader[],
  row: number,
  end: number,
): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareRows(keys, readers, rows[middle] as number, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
