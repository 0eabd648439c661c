import { type Bits, hasBit, setBit, wordsFor } from './bits.ts';
import { createKeyReaders, type KeyReader } from './key-reader.ts';
import { inSlices, type Slices } from './slices.ts';
import { compareRows } from './sort-rows.ts';
import { keepBuilt, mark, releaseOrder, type SortedOrder } from './sorted-order.ts';

/**
 * Builds an order of rows from the order that rows with these keys have in another index: most of them stand alike here, and
 * those that do not are put in their places. Takes no sorting, so it can be done in slices; rows may change meanwhile. False
 * when it was not built: too much differs, or a pause said so.
 */
export async function adoptOrder(order: SortedOrder, keys: Float64Array, slices: Slices): Promise<boolean> {
  const { space } = order;
  order.rows = new Int32Array(keys.length);
  order.count = keys.length;
  keepBuilt(order);
  const seen: Bits = new Int32Array(wordsFor(space.size));
  const known = space.size;
  let kept = 0;
  const work = (from: number, to: number): void => {
    // What they remember is valid until rows change.
    const readers = createKeyReaders(order.keys);
    for (let at = from; at < to; at++) {
      const row = space.ordinals.get(keys[at] as number);
      // What has come since is marked by the change that brought it.
      if (row === undefined || row >= known) continue;
      setBit(seen, row);
      kept = place(order, readers, kept, row);
    }
  };
  const isDone = await inSlices(keys.length, work, slices, () => order.built);
  if (isDone) markUnseen(order, seen, known);
  if (!isDone || !order.built) {
    releaseOrder(order);
    return false;
  }
  order.count = kept;
  return true;
}

/** Puts a row behind the first `kept`, which are in order but for those that are marked. Two that are not in order are both marked. */
function place(order: SortedOrder, readers: readonly KeyReader[], kept: number, row: number): number {
  const { rows, moved, keys } = order;
  if (moved.has(row)) return kept;
  let end = kept;
  while (end > 0 && moved.has(rows[end - 1] as number)) end--;
  const before = rows[end - 1];
  if (end > 0 && before !== undefined && compareRows(keys, readers, before, row) > 0) {
    mark(order, before);
    mark(order, row);
    return end - 1;
  }
  rows[end] = row;
  return end + 1;
}

/** Rows that the other index does not have. */
function markUnseen(order: SortedOrder, seen: Bits, known: number): void {
  const { live } = order.space;
  for (let row = 0; row < known; row++) if (hasBit(live, row) && !hasBit(seen, row)) mark(order, row);
}
