import { firstWhere } from '../../../first-where.ts';
import { createMergeSort } from '../../../turns/merge-sort.ts';
import { rest } from '../../../turns/slice.ts';
import type { SortPosition } from '../../read-index.ts';
import { isRowBehind, positionOf } from '../order/select-after.ts';
import type { RequestedRows, SelectedRows } from '../order/select-page.ts';
import { compareRows } from '../order/sort-rows.ts';
import { type BoundSortKey, createKeyReaders } from '../rows/key-reader.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { RankedRows } from './rank-rows.ts';

/** If a page ends within this many rows, the other rows are not sorted. */
const PICKED_ROWS = 1_000;

/** Selects rows by rank, ties by the keys, whose last is the id. If a call ends with its slice, the next call continues. */
export function createRankedPage(
  rowSet: RowSetIndex,
  keys: readonly BoundSortKey[],
  ranked: RankedRows,
  { cursor, from, size }: RequestedRows,
): () => SelectedRows {
  const order: RankOrder = { keys, compare: comparisonOf(rowSet, keys) };
  if (cursor !== undefined) return createRankedPageAfter(order, ranked, cursor.after, size);
  const select = createRankedSelection(order, ranked, from, size);
  return () => ({ rows: select() });
}

/** Order of rows with the same rank. */
type RankOrder = {
  readonly keys: readonly BoundSortKey[];
  readonly compare: (a: number, b: number) => number;
};

function createRankedSelection(
  order: RankOrder,
  ranked: RankedRows,
  from: number,
  size: number,
): () => readonly number[] {
  const { rows, ranks } = ranked;
  if (from >= rows.length || size <= 0) return () => [];
  const isBefore = comparison(order, ranked);
  const end = Math.min(rows.length, from + size);
  if (end <= PICKED_ROWS && end < rows.length) {
    const best: number[] = [];
    let next = 0;
    return () => {
      for (; next < rows.length; next++) {
        pick(best, next, end, (a, b) => (ranks[a] as number) < (ranks[b] as number) || isBefore(a, b) < 0);
        if ((next & 255) === 255) rest(256);
      }
      return best.slice(from).map((at) => rows[at] as number);
    };
  }
  const inOrder = createMergeSort(rows.length, isBefore);
  return () => Array.from(inOrder().subarray(from, end), (at) => rows[at] as number);
}

function createRankedPageAfter(
  order: RankOrder,
  ranked: RankedRows,
  after: SortPosition | null,
  size: number,
): () => SelectedRows {
  // Selects one row more than the page has. If it exists, another page follows.
  const select = createRankedSelection(order, behind(order, ranked, after), 0, size + 1);
  return () => {
    const found = select();
    const rows = found.slice(0, size);
    const last = rows.at(-1);
    if (found.length <= size || last === undefined) return { rows, next: null };
    const rank = ranked.ranks[ranked.rows.indexOf(last)] as number;
    return { rows, next: [rank, ...positionOf(order.keys, last)] };
  };
}

function behind({ keys }: RankOrder, { rows, ranks }: RankedRows, after: SortPosition | null): RankedRows {
  if (after === null) return { rows, ranks };
  const [rank, ...position] = after;
  const readers = createKeyReaders(keys);
  const kept: number[] = [];
  for (let at = 0; at < rows.length; at++) {
    const here = ranks[at] as number;
    const isTied = here === Number(rank);
    if (here > Number(rank) || (isTied && isRowBehind(keys, readers, rows[at] as number, position)))
      kept.push(at);
  }
  return {
    rows: Int32Array.from(kept, (at) => rows[at] as number),
    ranks: Float64Array.from(kept, (at) => ranks[at] as number),
  };
}

function comparison(order: RankOrder, { rows, ranks }: RankedRows): (a: number, b: number) => number {
  return (a, b) => {
    const [left, right] = [ranks[a] as number, ranks[b] as number];
    if (left !== right) return left < right ? -1 : 1;
    return order.compare(rows[a] as number, rows[b] as number);
  };
}

function comparisonOf(rowSet: RowSetIndex, keys: readonly BoundSortKey[]): RankOrder['compare'] {
  if (keys.length === 1 && rowSet.idsAscend) return (a, b) => a - b;
  const readers = createKeyReaders(keys);
  return (a, b) => compareRows(keys, readers, a, b);
}

/** Inserts a row into `best`, which has the first `most` rows in order. */
function pick(best: number[], at: number, most: number, isBefore: (a: number, b: number) => boolean): void {
  if (best.length === most && !isBefore(at, best[most - 1] as number)) return;
  const slot = firstWhere(best.length, (index) => isBefore(at, best[index] as number));
  best.splice(slot, 0, at);
  if (best.length > most) best.pop();
}
