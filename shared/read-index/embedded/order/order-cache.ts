import type { ColumnKey, SortKey, World } from '../../read-index.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { RowSets } from '../rows/row-sets.ts';
import { bindSort } from './sort-rows.ts';
import { createSortedOrder, currentRows, markChanged, type SortedOrder } from './sorted-order.ts';

/** Cache of sort orders by row set, world and keys. If all orders together have too many rows, the least recently used are dropped. */
export type OrderCache = {
  readonly rowSets: RowSets;
  readonly orders: Map<string, SortedOrder>;
  readonly maxRows: number;
};

/** Creates an empty cache. `maxRows` limits the rows of all orders together, plus an overhead for each order. */
export function createOrderCache(rowSets: RowSets, maxRows: number): OrderCache {
  return { rowSets, orders: new Map(), maxRows };
}

/**
 * Returns the order, which may not be built yet. An order by distance is not kept: few requests have the same point, and each order would
 * take the memory of all rows.
 */
export function orderFor(
  cache: OrderCache,
  rowSet: RowSetIndex,
  world: World,
  sort: readonly SortKey[],
): SortedOrder {
  const bind = () =>
    createSortedOrder(rowSet, bindSort(cache.rowSets, rowSet, world, sort), cache.rowSets.logs);
  if (!isKeptOrder(sort)) return bind();
  const name = orderName(rowSet, world, sort);
  const existing = cache.orders.get(name);
  if (existing !== undefined) {
    cache.orders.delete(name);
    cache.orders.set(name, existing);
    markChanged(existing);
    return existing;
  }
  const order = bind();
  cache.orders.set(name, order);
  evict(cache, order);
  return order;
}

/** Returns the rows of `rowSet` by ascending `field`, NULLs last. */
export function sortedRows(cache: OrderCache, rowSet: RowSetIndex, field: string): Int32Array {
  // A field of the row itself is the same in both worlds.
  return currentRows(orderFor(cache, rowSet, 'published', [{ path: [], field, direction: 'asc' }]));
}

/** Returns whether the cache keeps the order, so that building it may pay. */
export function isKeptOrder(sort: readonly SortKey[]): sort is readonly ColumnKey[] {
  return !sort.some((key) => 'nearest' in key);
}

const DIRECTIONS = { asc: ' +', desc: ' -', 'desc-null-last': ' ~' } as const;

function orderName(rowSet: RowSetIndex, world: World, sort: readonly ColumnKey[]): string {
  let name = String(rowSet.number);
  let ownFields = true;
  for (const { path, field, direction } of sort) {
    name += DIRECTIONS[direction];
    for (const attribute of path) name += `${attribute}.`;
    name += field;
    ownFields &&= path.length === 0;
  }
  return ownFields ? name : `${world} ${name}`;
}

function evict(cache: OrderCache, newest: SortedOrder): void {
  let rows = 0;
  for (const order of cache.orders.values()) rows += order.rows.length + ORDER_OVERHEAD;
  for (const [name, order] of cache.orders) {
    if (rows <= cache.maxRows) return;
    if (order === newest) continue;
    rows -= order.rows.length + ORDER_OVERHEAD;
    cache.orders.delete(name);
  }
}

/** Overhead of an order, in rows, so that the number of small orders is limited too. */
const ORDER_OVERHEAD = 256;
