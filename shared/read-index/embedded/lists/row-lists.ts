import { grown } from './grown.ts';

/**
 * Many small lists of row ordinals, or of other integers ≥ 0, in a few growing arrays. Examples are the rows of a term, the targets of a
 * row, and the terms with an n-gram. A list with one entry, as for to-one relations and unique values, is the entry itself. A longer one
 * has a block of slots in a pool, and moves to a block of the next size when it is full. Freed blocks are reused. There is no object per
 * list, so millions of lists cost the garbage collector nothing.
 */
export type RowLists = {
  counts: Int32Array;
  /** The entry of a list with one entry; the start of the block of a longer list; any valid entry for an empty list. */
  heads: Int32Array;
  /** Size of the block, see `slotsOf`; 0 = no block. */
  sizes: Int8Array;
  pool: Int32Array;
  /** Order values of ordered lists: that of an only entry, and one for each slot of the pool. */
  orders: { heads: Float64Array; pool: Float64Array } | undefined;
  poolUsed: number;
  readonly freeBlocks: number[][];
  /** Number of entries in all lists. */
  total: number;
};

const FIRST_POOL = 16;

/** Returns the slots of a block: 2, 3, 4, 6, 8, 12, 16 and so on. A list fills five sixths of its block on average. */
function slotsOf(size: number): number {
  return (size & 1) === 1 ? 2 << (size >> 1) : 3 << ((size >> 1) - 1);
}

/** Returns the size of the smallest block for `count` entries, from two on. */
function sizeFor(count: number): number {
  const power = 2 * (32 - Math.clz32(count - 1)) - 1;
  return power > 1 && slotsOf(power - 1) >= count ? power - 1 : power;
}

/** Creates empty lists. `ordered`: each entry has an order value. `lists`: number of lists for which memory is allocated at first. */
export function createRowLists(ordered: boolean, lists = 0): RowLists {
  return {
    counts: new Int32Array(lists),
    heads: new Int32Array(lists),
    sizes: new Int8Array(lists),
    pool: new Int32Array(FIRST_POOL),
    orders: ordered ? { heads: new Float64Array(lists), pool: new Float64Array(FIRST_POOL) } : undefined,
    poolUsed: 0,
    freeBlocks: [],
    total: 0,
  };
}

/** Returns the number of entries in `list`. A list that was never written to is empty. */
export function listCount(lists: RowLists, list: number): number {
  return list < lists.counts.length ? (lists.counts[list] as number) : 0;
}

/** Returns the entry at `index`, which must be below `listCount`. */
export function listEntry(lists: RowLists, list: number, index: number): number {
  const head = lists.heads[list] as number;
  return lists.counts[list] === 1 ? head : (lists.pool[head + index] as number);
}

/** Returns the order of the entry at `index`; 0 in lists without an order. */
export function listOrder({ counts, heads, orders }: RowLists, list: number, index: number): number {
  if (orders === undefined) return 0;
  if (counts[list] === 1) return orders.heads[list] as number;
  return orders.pool[(heads[list] as number) + index] as number;
}

/** Replaces the entry at `index`, and keeps its order. */
export function setListEntry(
  { counts, heads, pool }: RowLists,
  list: number,
  index: number,
  value: number,
): void {
  if (counts[list] === 1) heads[list] = value;
  else pool[(heads[list] as number) + index] = value;
}

/** Replaces the order of the entry at `index`. Does nothing in lists without an order. */
export function setListOrder(
  { counts, heads, orders }: RowLists,
  list: number,
  index: number,
  order: number,
): void {
  if (orders === undefined) return;
  if (counts[list] === 1) orders.heads[list] = order;
  else orders.pool[(heads[list] as number) + index] = order;
}

/** Adds an entry at the end, whatever its order. The list may be new. */
export function appendToList(lists: RowLists, list: number, value: number, order = 0): void {
  if (list >= lists.counts.length) growLists(lists, list + 1);
  const count = lists.counts[list] as number;
  const size = lists.sizes[list] as number;
  if (count === 1 || (count > 1 && count >= slotsOf(size))) moveToBlock(lists, list, size + 1);
  lists.counts[list] = count + 1;
  lists.total++;
  setListEntry(lists, list, count, value);
  setListOrder(lists, list, count, order);
}

/** Gives an empty list without an order its entries. The list may be new. */
export function fillList(lists: RowLists, list: number, values: readonly number[]): void {
  if (list >= lists.counts.length) growLists(lists, list + 1);
  const count = values.length;
  if (count > 1) {
    const size = sizeFor(count);
    const to = lists.freeBlocks[size]?.pop() ?? newBlock(lists, size);
    lists.pool.set(values, to);
    lists.heads[list] = to;
    lists.sizes[list] = size;
  } else if (count === 1) lists.heads[list] = values[0] as number;
  lists.counts[list] = count;
  lists.total += count;
}

/** Allocates memory for so many lists and slots in one step: memory that grows is copied, and has up to twice the size. */
export function reserveLists(lists: RowLists, count: number, slots: number): void {
  if (count > lists.counts.length) resizeLists(lists, count);
  if (slots > lists.pool.length) resizePool(lists, slots);
}

/** Returns the index of `value` in the list, or -1. */
export function indexInList(lists: RowLists, list: number, value: number): number {
  const count = listCount(lists, list);
  if (count === 0) return -1;
  const head = lists.heads[list] as number;
  if (count === 1) return head === value ? 0 : -1;
  const { pool } = lists;
  for (let at = head; at < head + count; at++) if (pool[at] === value) return at - head;
  return -1;
}

/** Removes the entry at `index`, and keeps the order of the others. */
export function removeKeepingOrder(lists: RowLists, list: number, index: number): void {
  const count = lists.counts[list] as number;
  if (count > 1) {
    const head = lists.heads[list] as number;
    lists.pool.copyWithin(head + index, head + index + 1, head + count);
    lists.orders?.pool.copyWithin(head + index, head + index + 1, head + count);
  }
  shrink(lists, list);
}

/** Removes the entry at `index` by moving the last one there. Do not use it for ordered lists. */
export function removeBySwap(lists: RowLists, list: number, index: number): void {
  const count = lists.counts[list] as number;
  if (count > 1) setListEntry(lists, list, index, listEntry(lists, list, count - 1));
  shrink(lists, list);
}

/** Removes all entries of a list. */
export function clearList(lists: RowLists, list: number): void {
  const count = listCount(lists, list);
  if (count === 0) return;
  if (count > 1) {
    releaseBlock(lists, list);
    lists.heads[list] = 0;
  }
  lists.total -= count;
  lists.counts[list] = 0;
}

/** Returns a copy of the list. */
export function listValues(lists: RowLists, list: number): number[] {
  const count = listCount(lists, list);
  const values: number[] = [];
  for (let index = 0; index < count; index++) values.push(listEntry(lists, list, index));
  return values;
}

function shrink(lists: RowLists, list: number): void {
  const count = (lists.counts[list] as number) - 1;
  if (count === 1) {
    const start = lists.heads[list] as number;
    releaseBlock(lists, list);
    lists.heads[list] = lists.pool[start] as number;
    if (lists.orders !== undefined) lists.orders.heads[list] = lists.orders.pool[start] as number;
  }
  lists.counts[list] = count;
  lists.total--;
}

function releaseBlock(lists: RowLists, list: number): void {
  const size = lists.sizes[list] as number;
  for (let k = lists.freeBlocks.length; k <= size; k++) lists.freeBlocks[k] = [];
  lists.freeBlocks[size]?.push(lists.heads[list] as number);
  lists.sizes[list] = 0;
}

/** Gives a full list a block of the next size, with its entries in it. */
function moveToBlock(lists: RowLists, list: number, size: number): void {
  const to = lists.freeBlocks[size]?.pop() ?? newBlock(lists, size);
  const count = lists.counts[list] as number;
  const from = lists.heads[list] as number;
  const { pool, orders } = lists;
  if (count === 1) {
    pool[to] = from;
    if (orders !== undefined) orders.pool[to] = orders.heads[list] as number;
  } else {
    pool.copyWithin(to, from, from + count);
    orders?.pool.copyWithin(to, from, from + count);
    releaseBlock(lists, list);
  }
  lists.heads[list] = to;
  lists.sizes[list] = size;
}

function newBlock(lists: RowLists, size: number): number {
  const start = lists.poolUsed;
  const end = start + slotsOf(size);
  if (end > lists.pool.length) resizePool(lists, Math.max(end, Math.ceil(lists.pool.length * 1.75)));
  lists.poolUsed = end;
  return start;
}

function resizePool(lists: RowLists, length: number): void {
  lists.pool = grown(lists.pool, new Int32Array(length));
  if (lists.orders !== undefined) lists.orders.pool = grown(lists.orders.pool, new Float64Array(length));
}

function growLists(lists: RowLists, needed: number): void {
  resizeLists(lists, Math.max(needed, lists.counts.length * 2, 16));
}

function resizeLists(lists: RowLists, length: number): void {
  lists.counts = grown(lists.counts, new Int32Array(length));
  lists.heads = grown(lists.heads, new Int32Array(length));
  lists.sizes = grown(lists.sizes, new Int8Array(length));
  if (lists.orders !== undefined) lists.orders.heads = grown(lists.orders.heads, new Float64Array(length));
}
