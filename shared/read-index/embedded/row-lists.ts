/**
 * Many small lists of row ordinals (or other integers ≥ 0) in one growing array: the rows of a term, the targets of a row, the
 * sources of a target, the terms with an n-gram. A list has a block of 2^k places and moves to the next size when full;
 * freed blocks are used again. No object per list, so millions of lists cost the garbage collector nothing.
 */
export type RowLists = {
  starts: Int32Array;
  counts: Int32Array;
  /** k of the block's 2^k places; -1 = the list has no block. */
  sizes: Int8Array;
  pool: Int32Array;
  /** One per place when the lists are ordered. */
  orders: Float64Array | undefined;
  poolUsed: number;
  readonly freeBlocks: number[][];
  /** Entries in all lists. */
  total: number;
};

export function createRowLists(ordered: boolean, lists = 0): RowLists {
  return {
    starts: new Int32Array(lists),
    counts: new Int32Array(lists),
    sizes: new Int8Array(lists).fill(-1),
    pool: new Int32Array(16),
    orders: ordered ? new Float64Array(16) : undefined,
    poolUsed: 0,
    freeBlocks: [],
    total: 0,
  };
}

/** How many entries `list` has; lists never written to are empty. */
export function listCount(lists: RowLists, list: number): number {
  return list < lists.counts.length ? (lists.counts[list] as number) : 0;
}

export function appendToList(lists: RowLists, list: number, value: number, order = 0): void {
  if (list >= lists.counts.length) growLists(lists, list + 1);
  const count = lists.counts[list] as number;
  const size = lists.sizes[list] as number;
  if (size < 0 || count === 1 << size) moveToBlock(lists, list, size + 1);
  const place = (lists.starts[list] as number) + count;
  lists.pool[place] = value;
  if (lists.orders !== undefined) lists.orders[place] = order;
  lists.counts[list] = count + 1;
  lists.total++;
}

/** Place of `value` in the pool, or -1. */
export function placeInList(lists: RowLists, list: number, value: number): number {
  const count = listCount(lists, list);
  const start = lists.starts[list] as number;
  const { pool } = lists;
  for (let place = start; place < start + count; place++) if (pool[place] === value) return place;
  return -1;
}

/** Removes the entry at `place`, keeping the order of the others. */
export function removeKeepingOrder(lists: RowLists, list: number, place: number): void {
  const end = (lists.starts[list] as number) + (lists.counts[list] as number);
  lists.pool.copyWithin(place, place + 1, end);
  lists.orders?.copyWithin(place, place + 1, end);
  shrink(lists, list);
}

/** Removes the entry at `place` by moving the last one there. */
export function removeBySwap(lists: RowLists, list: number, place: number): void {
  const last = (lists.starts[list] as number) + (lists.counts[list] as number) - 1;
  lists.pool[place] = lists.pool[last] as number;
  shrink(lists, list);
}

export function clearList(lists: RowLists, list: number): void {
  const count = listCount(lists, list);
  if (count === 0) return;
  lists.total -= count;
  lists.counts[list] = 0;
  releaseBlock(lists, list);
}

/** A copy of the list. */
export function listValues(lists: RowLists, list: number): number[] {
  const count = listCount(lists, list);
  const start = lists.starts[list] as number;
  const values: number[] = [];
  for (let place = start; place < start + count; place++) values.push(lists.pool[place] as number);
  return values;
}

function shrink(lists: RowLists, list: number): void {
  const count = (lists.counts[list] as number) - 1;
  lists.counts[list] = count;
  lists.total--;
  if (count === 0) releaseBlock(lists, list);
}

function releaseBlock(lists: RowLists, list: number): void {
  const size = lists.sizes[list] as number;
  if (size < 0) return;
  let free = lists.freeBlocks[size];
  if (free === undefined) {
    free = [];
    for (let k = lists.freeBlocks.length; k < size; k++) lists.freeBlocks[k] = [];
    lists.freeBlocks[size] = free;
  }
  free.push(lists.starts[list] as number);
  lists.sizes[list] = -1;
}

function moveToBlock(lists: RowLists, list: number, size: number): void {
  const from = lists.starts[list] as number;
  const to = lists.freeBlocks[size]?.pop() ?? newBlock(lists, size);
  const count = lists.counts[list] as number;
  if (count > 0) {
    lists.pool.copyWithin(to, from, from + count);
    lists.orders?.copyWithin(to, from, from + count);
  }
  releaseBlock(lists, list);
  lists.starts[list] = to;
  lists.sizes[list] = size;
}

function newBlock(lists: RowLists, size: number): number {
  const start = lists.poolUsed;
  const end = start + (1 << size);
  if (end > lists.pool.length) {
    const length = Math.max(end, Math.ceil(lists.pool.length * 1.75));
    lists.pool = grown(lists.pool, new Int32Array(length));
    if (lists.orders !== undefined) lists.orders = grown(lists.orders, new Float64Array(length));
  }
  lists.poolUsed = end;
  return start;
}

function growLists(lists: RowLists, needed: number): void {
  const length = Math.max(needed, lists.counts.length * 2, 16);
  const old = lists.counts.length;
  lists.starts = grown(lists.starts, new Int32Array(length));
  lists.counts = grown(lists.counts, new Int32Array(length));
  lists.sizes = grown(lists.sizes, new Int8Array(length).fill(-1, old));
}

function grown<T extends Int32Array | Int8Array | Float64Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
