import { firstWhere } from '../../../first-where.ts';
import { createMergeSort } from '../../../turns/merge-sort.ts';
import { rest } from '../../../turns/slice.ts';
import type { SortPosition } from '../../read-index.ts';
import { compareToPosition, positionOf } from '../order/select-after.ts';
import type { RequestedRows, SelectedRows } from '../order/select-page.ts';
import { compareKeys, compareRows } from '../order/sort-rows.ts';
import { type BoundSortKey, createKeyReaders } from '../rows/key-reader.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { TwoPartRanks } from './place-ranks.ts';
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
  const compare = comparisonOf(rowSet, keys);
  const order: RankOrder = { keys, compare, leading: [], compareLeading: () => 0 };
  if (cursor !== undefined) return createRankedPageAfter(order, ranked, cursor.after, size);
  const select = createRankedSelection(order, ranked, from, size);
  return () => ({ rows: select() });
}

/**
 * Selects rows by the first part of their rank, then by the leading keys, by the second part, and ties by the keys. If a call ends with its
 * slice, the next call continues.
 */
export function createPlacedPage(
  rowSet: RowSetIndex,
  { leading, keys }: { readonly leading: readonly BoundSortKey[]; readonly keys: readonly BoundSortKey[] },
  placed: TwoPartRanks,
  { cursor, from, size }: RequestedRows,
): () => SelectedRows {
  const readers = createKeyReaders(leading);
  const compareLeading = (a: number, b: number) => compareKeys(leading, readers, a, b);
  const order: RankOrder = { keys, compare: comparisonOf(rowSet, keys), leading, compareLeading };
  if (cursor !== undefined) return createRankedPageAfter(order, placed, cursor.after, size);
  const select = createRankedSelection(order, placed, from, size);
  return () => ({ rows: select() });
}

type Comparison = (a: number, b: number) => number;

/** Order of rows with the same rank. `leading`: the keys before the second part of the rank. */
type RankOrder = {
  readonly keys: readonly BoundSortKey[];
  readonly compare: Comparison;
  readonly leading: readonly BoundSortKey[];
  readonly compareLeading: Comparison;
};

/** Ranks of rows, perhaps in two parts. */
type Ranks = RankedRows & Partial<Pick<TwoPartRanks, 'after'>>;

function createRankedSelection(
  order: RankOrder,
  ranked: Ranks,
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
  ranked: Ranks,
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
    const at = ranked.rows.indexOf(last);
    const { leading, keys } = order;
    const second =
      ranked.after === undefined ? [] : [...positionOf(leading, last), ranked.after[at] as number];
    return { rows, next: [ranked.ranks[at] as number, ...second, ...positionOf(keys, last)] };
  };
}

/** Returns the rows after a position: the rank, the values of the leading keys, the second part of the rank, the values of the keys. */
function behind({ leading, keys }: RankOrder, ranked: Ranks, position: SortPosition | null): Ranks {
  if (position === null) return ranked;
  const { rows, ranks, after } = ranked;
  const values = position.slice(1);
  const first = after === undefined ? [] : values.splice(0, leading.length);
  const second = after === undefined ? [] : values.splice(0, 1);
  const [leadingReaders, readers] = [createKeyReaders(leading), createKeyReaders(keys)];
  const kept: number[] = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    const order =
      (ranks[at] as number) - Number(position[0]) ||
      compareToPosition(leading, leadingReaders, row, first) ||
      (after === undefined ? 0 : (after[at] as number) - Number(second[0])) ||
      compareToPosition(keys, readers, row, values);
    if (order > 0) kept.push(at);
  }
  return {
    rows: Int32Array.from(kept, (at) => rows[at] as number),
    ranks: Float64Array.from(kept, (at) => ranks[at] as number),
    ...(after === undefined ? {} : { after: Float64Array.from(kept, (at) => after[at] as number) }),
  };
}

function comparison(order: RankOrder, { rows, ranks, after }: Ranks): Comparison {
  const compareTies = (a: number, b: number) => order.compare(rows[a] as number, rows[b] as number);
  const compareEqual =
    after === undefined
      ? compareTies
      : (a: number, b: number) =>
          order.compareLeading(rows[a] as number, rows[b] as number) ||
          (after[a] as number) - (after[b] as number) ||
          compareTies(a, b);
  return (a, b) => {
    const [left, right] = [ranks[a] as number, ranks[b] as number];
    if (left !== right) return left < right ? -1 : 1;
    return compareEqual(a, b);
  };
}

function comparisonOf(rowSet: RowSetIndex, keys: readonly BoundSortKey[]): Comparison {
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
