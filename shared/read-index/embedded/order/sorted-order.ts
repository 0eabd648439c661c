import { firstWhere } from '../../../first-where.ts';
import { rest } from '../../../turns/slice.ts';
import { hasBit, selectRows, setBit } from '../lists/bits.ts';
import { grown } from '../lists/grown.ts';
import { type BoundSortKey, createKeyReaders, type KeyReader } from '../rows/key-reader.ts';
import {
  type ChangeLogs,
  isUnchanged,
  takeAffected,
  type WatchedChanges,
  watchChanges,
} from '../rows/row-changes.ts';
import { borrowBits, type RowSetIndex, releaseBits } from '../rows/row-set.ts';
import { compareRows, createRowSort, type RowSort } from './sort-rows.ts';

/**
 * Rows of a row set in one sort order, kept up to date across writes. The next reader after a change removes the rows whose position may
 * have changed, and inserts them again. A change of too many rows drops the order, which is then rebuilt. If a slice ends while the order is
 * built or updated, the next caller continues. Rows may change in between.
 */
export type SortedOrder = {
  readonly rowSet: RowSetIndex;
  readonly keys: readonly BoundSortKey[];
  readonly logs: ChangeLogs;
  /** Rows in order. Only the first `count` are valid. */
  rows: Int32Array;
  count: number;
  built: boolean;
  /** Sorts the rows that existed when building began. Present until the order is built. */
  building: RowSort | undefined;
  /** Rows in a wrong position, missing rows, and rows that do not belong here. */
  readonly moved: Set<number>;
  /** Removed rows that must be inserted again. */
  readonly out: Set<number>;
  /** Readers of the rows' keys. They are created again after each change. */
  readers: readonly KeyReader[] | undefined;
  /** Approximate nanoseconds that queries have lost without this order. */
  missed: number;
  /** Changes of all keys since the order was last read. */
  watched: readonly WatchedChanges[];
};

/** Rows inserted between two checks of the clock, and the cost of one in steps of a slice. */
const PUT_AT_ONCE = 64;
const PUT_STEPS = 30;

/** Creates an order that is not built yet. `currentRows` builds it. */
export function createSortedOrder(
  rowSet: RowSetIndex,
  keys: readonly BoundSortKey[],
  logs: ChangeLogs,
): SortedOrder {
  return {
    rowSet,
    keys,
    logs,
    rows: new Int32Array(0),
    count: 0,
    built: false,
    building: undefined,
    moved: new Set(),
    out: new Set(),
    readers: undefined,
    missed: 0,
    watched: [],
  };
}

/** Returns the rows in their current order. */
export function currentRows(order: SortedOrder): Int32Array {
  if (!order.built) build(order);
  if (order.moved.size > 0) takeOut(order);
  if (order.out.size > 0) putMovedRows(order);
  return order.rows.subarray(0, order.count);
}

function build(order: SortedOrder): void {
  const { rowSet } = order;
  if (order.building === undefined) {
    order.building = createRowSort(order.keys, selectRows(rowSet.present, 0, rowSet.count));
    order.count = rowSet.count;
    order.moved.clear();
    order.out.clear();
    order.watched = watchKeys(order);
  }
  order.rows = order.building();
  order.building = undefined;
  order.missed = 0;
  order.built = true;
}

/** Watches all keys. The id, which is the last key, reports new and deleted rows. */
function watchKeys({ keys, logs }: SortedOrder): readonly WatchedChanges[] {
  return keys.flatMap(({ steps, columns }) => [
    ...steps.map(({ down }, level) => watchChanges(logs, down.watchers, steps.slice(0, level))),
    ...columns.map(({ watchers }) => watchChanges(logs, watchers, steps)),
  ]);
}

/** Marks the rows that have changed for insertion at their new positions. Call it before the rows are read in a new state of the index. */
export function markChanged(order: SortedOrder): void {
  if (isUnchanged(order.watched)) return;
  order.readers = undefined;
  // Inserting half of the rows one by one costs as much as sorting all.
  const most = 64 + order.count / 2 - order.moved.size - order.out.size;
  const affected = takeAffected(order.watched, most);
  if (affected === undefined) forget(order);
  else for (const row of affected) order.moved.add(row);
}

/** Drops the order, so that it is rebuilt. */
function forget(order: SortedOrder): void {
  order.built = false;
  order.watched = [];
  order.building = undefined;
  order.readers = undefined;
  order.moved.clear();
  order.out.clear();
}

/** Inserts a few rows at a time. The other rows are missing until then. */
function putMovedRows(order: SortedOrder): void {
  const { rowSet, keys, out } = order;
  while (out.size > 0) {
    order.readers ??= createKeyReaders(keys);
    const { readers } = order;
    const back = [...out.values().take(PUT_AT_ONCE)];
    const present = back.filter((row) => hasBit(rowSet.present, row));
    present.sort((a, b) => compareRows(keys, readers, a, b));
    // A comparison may end the slice. After this line nothing ends it.
    const { rows, count } = order;
    const slots = present.map((row) =>
      firstWhere(count, (at) => compareRows(keys, readers, rows[at] as number, row) >= 0),
    );
    putIn(order, present, slots);
    for (const row of back) out.delete(row);
    rest(PUT_AT_ONCE * PUT_STEPS);
  }
}

/** Removes the moved rows from the order, in whatever position they are. */
function takeOut(order: SortedOrder): void {
  removeMoved(order);
  for (const row of order.moved) order.out.add(row);
  order.moved.clear();
}

function removeMoved(order: SortedOrder): void {
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
  const marked = borrowBits(order.rowSet);
  for (const row of moved) setBit(marked, row);
  let kept = 0;
  for (let i = 0; i < order.count; i++) {
    const row = rows[i] as number;
    rows[kept] = row;
    if (!hasBit(marked, row)) kept++;
  }
  releaseBits(order.rowSet, marked);
  order.count = kept;
}

/** Inserts sorted rows, from the last to the first, so that each stretch between them moves only once. */
function putIn(order: SortedOrder, sorted: readonly number[], slots: readonly number[]): void {
  const total = order.count + sorted.length;
  if (total > order.rows.length) {
    const longer = new Int32Array(Math.ceil(total * 1.25));
    order.rows = grown(order.rows.subarray(0, order.count), longer);
  }
  let end = order.count;
  for (let i = sorted.length - 1; i >= 0; i--) {
    const at = slots[i] as number;
    order.rows.copyWithin(at + i + 1, at, end);
    order.rows[at + i] = sorted[i] as number;
    end = at;
  }
  order.count = total;
}
