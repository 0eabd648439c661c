import type { SearchRequest, SortPosition, World } from '../../read-index.ts';
import { type Bits, hasBit, selectRows } from '../lists/bits.ts';
import { KEY_COST, ROW_COST } from '../lists/costs.ts';
import type { BoundSortKey } from '../rows/key-reader.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { isKeptOrder, type OrderCache, orderFor } from './order-cache.ts';
import { firstBehind, firstRowBehindId, positionOf } from './select-after.ts';
import { createRowSort } from './sort-rows.ts';
import { currentRows, type SortedOrder } from './sorted-order.ts';

/** Requested rows: those after a position in the order if there is a cursor, otherwise those from an offset on. */
export type RequestedRows = Pick<SearchRequest, 'from' | 'size' | 'cursor'>;

export type Page = Pick<SearchRequest, 'sort' | 'from' | 'size'>;
type PageAfter = Page & { readonly after: SortPosition | null };

/** Selected rows. `next`: position of the last row; null if no row follows; absent without a cursor. */
export type SelectedRows = {
  readonly rows: readonly number[];
  readonly next?: SortPosition | null | undefined;
};

/** Selected rows, and the number of all matches. */
export type CountedRows = SelectedRows & { readonly count: number };

/** Input of a selection: the `count` rows in `matched`. */
export type Selected = {
  readonly orders: OrderCache;
  readonly rowSet: RowSetIndex;
  readonly world: World;
  readonly matched: Bits;
  readonly count: number;
};

/** Selects the rows of one page, or those after a position. If a call ends with its slice, the next call continues. */
export function createSelection(
  selected: Selected,
  request: RequestedRows & Pick<SearchRequest, 'sort'>,
): () => SelectedRows {
  const { cursor } = request;
  if (cursor !== undefined) return createSelectionAfter(selected, { ...request, after: cursor.after });
  const select = createPageSelection(selected, request);
  return () => ({ rows: select() });
}

/** Selects the rows of one page. If a call ends with its slice, the next call continues. */
export function createPageSelection(selected: Selected, page: Page): () => readonly number[] {
  const { rowSet, matched, count } = selected;
  if (page.from >= count || page.size <= 0) return () => [];
  if (page.sort.length === 0 && rowSet.idsAscend) return () => selectRows(matched, page.from, page.size);
  const inOrder = createOrdering(selected, page);
  return () => {
    const rows = inOrder();
    if (count === rows.length) return Array.from(rows.subarray(page.from, page.from + page.size));
    return walkRows(rows, matched, { first: 0, skip: page.from, size: page.size });
  };
}

/** Selects the rows of a page from the few matches in `rows`, which ascend. See createPageSelection. */
export function createPageOfFew(
  { orders, rowSet, world }: Omit<Selected, 'matched' | 'count'>,
  rows: readonly number[] | Int32Array,
  page: Page,
): () => readonly number[] {
  const { from, size, sort } = page;
  const end = from + Math.max(0, size);
  if (rows.length <= 1 || (sort.length === 0 && rowSet.idsAscend))
    return () => Array.from(rows.slice(from, end));
  const inOrder = createRowSort(orderFor(orders, rowSet, world, sort).keys, rows);
  return () => Array.from(inOrder().subarray(from, end));
}

/**
 * Selects the rows of a page after a position in the order, and returns the position of its last row (null: no row follows). If a call ends
 * with its slice, the next call continues.
 */
export function createSelectionAfter(selected: Selected, page: PageAfter): () => SelectedRows {
  const { orders, rowSet, world } = selected;
  const { keys } = orderFor(orders, rowSet, world, page.sort);
  // Selects one row more than the page has. If it exists, another page follows.
  const rowsBehind = createRowsBehind(selected, keys, { ...page, size: page.size + 1 });
  return () => {
    const found = rowsBehind();
    const rows = found.slice(0, page.size);
    const last = rows.at(-1);
    const next = found.length > rows.length && last !== undefined ? positionOf(keys, last) : null;
    return { rows, next };
  };
}

function createRowsBehind(
  selected: Selected,
  keys: readonly BoundSortKey[],
  page: PageAfter,
): () => readonly number[] {
  const { rowSet, matched } = selected;
  const { after, size } = page;
  if (page.sort.length === 0 && rowSet.idsAscend) {
    return () => rowsFrom(matched, after === null ? 0 : firstRowBehindId(rowSet, Number(after[0])), size);
  }
  const inOrder = createOrdering(selected, page);
  return () => {
    const rows = inOrder();
    const first = after === null ? 0 : firstBehind(keys, rows, after);
    return walkRows(rows, matched, { first, skip: 0, size });
  };
}

/** Orders the whole row set or only the matches, whichever costs less. */
function createOrdering({ orders, rowSet, world, matched, count }: Selected, page: Page): () => Int32Array {
  const order = orderFor(orders, rowSet, world, page.sort);
  if (isKeptOrder(page.sort) && worthWalking(order, count, page)) return () => currentRows(order);
  return createRowSort(order.keys, selectRows(matched, 0, count));
}

function rowsFrom(matched: Bits, first: number, size: number): readonly number[] {
  const rows: number[] = [];
  for (let row = first; row < matched.length * 32 && rows.length < size; row++) {
    // A whole word without a match is skipped.
    if ((row & 31) === 0 && matched[row >>> 5] === 0) row += 31;
    else if (hasBit(matched, row)) rows.push(row);
  }
  return rows;
}

/**
 * Returns whether walking the whole row set in order costs less than sorting the matches. If the order is not built yet, adds up the cost
 * of sorting until building would have paid.
 */
function worthWalking(order: SortedOrder, count: number, page: Page): boolean {
  const { rowSet, keys } = order;
  const sorting = count * KEY_COST * (keys.length + Math.log2(count + 1));
  if (order.built) {
    const repair = order.moved.size + order.out.size === 0 ? 0 : rowSet.count * 0.5;
    const share = count === rowSet.count ? page.size / rowSet.count : (page.from + page.size) / count;
    return repair + rowSet.count * ROW_COST * Math.min(1, share) < sorting;
  }
  order.missed += sorting;
  return order.missed >= rowSet.count * KEY_COST * (keys.length + Math.log2(rowSet.count + 1));
}

type Walk = { readonly first: number; readonly skip: number; readonly size: number };

/** Returns at most `size` of the matching rows from `first` on, after skipping some. */
function walkRows(rows: Int32Array, matched: Bits, { first, skip: skipped, size }: Walk): readonly number[] {
  const found: number[] = [];
  let skip = skipped;
  for (let i = first; i < rows.length && found.length < size; i++) {
    const row = rows[i] as number;
    if (!hasBit(matched, row)) continue;
    if (skip > 0) skip--;
    else found.push(row);
  }
  return found;
}
