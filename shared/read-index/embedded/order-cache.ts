import type { SortKey, World } from '../read-index.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { bindSort } from './sort-rows.ts';
import { createSortedOrder, currentRows, releaseOrder, type SortedOrder } from './sorted-order.ts';
import type { Spaces } from './spaces.ts';

/**
 * Cache of sort orders by row set, world and keys; the least recently used ones are dropped if all orders have too many
 * rows.
 */
export type OrderCache = {
  readonly spaces: Spaces;
  readonly orders: Map<string, KnownOrder>;
  readonly maxRows: number;
};

/** An order with its keys. */
export type KnownOrder = {
  readonly order: SortedOrder;
  readonly world: World;
  readonly sort: readonly SortKey[];
};

export function createOrderCache(spaces: Spaces, maxRows: number): OrderCache {
  return { spaces, orders: new Map(), maxRows };
}

/** The order, built or not. */
export function orderFor(
  cache: OrderCache,
  space: RowSpaceIndex,
  world: World,
  sort: readonly SortKey[],
): SortedOrder {
  const name = orderName(space, world, sort);
  const existing = cache.orders.get(name);
  if (existing !== undefined) {
    cache.orders.delete(name);
    cache.orders.set(name, existing);
    return existing.order;
  }
  const order = createSortedOrder(space, bindSort(cache.spaces, space, world, sort));
  remember(cache, name, { order, world, sort });
  return order;
}

function remember(cache: OrderCache, name: string, known: KnownOrder): void {
  const before = cache.orders.get(name);
  if (before !== undefined) releaseOrder(before.order);
  cache.orders.set(name, known);
  evict(cache, known.order);
}

/** Least recently used first. */
export function knownOrders({ orders }: OrderCache): readonly KnownOrder[] {
  return [...orders.values()];
}

/**
 * Gives a row set the order that another index has for the same rows, once it can be built, unless it has one or cannot
 * have one.
 */
export async function orderLike(
  cache: OrderCache,
  space: RowSpaceIndex,
  { world, sort }: KnownOrder,
  build: (order: SortedOrder) => Promise<boolean>,
): Promise<void> {
  const name = orderName(space, world, sort);
  if (cache.orders.get(name)?.order.built === true) return;
  const keys = bindWherePossible(cache.spaces, space, world, sort);
  if (keys === undefined) return;
  const order = createSortedOrder(space, keys);
  if (await build(order)) remember(cache, name, { order, world, sort });
}

/** undefined: the content types here lack a sort attribute. */
function bindWherePossible(...of: Parameters<typeof bindSort>): ReturnType<typeof bindSort> | undefined {
  try {
    return bindSort(...of);
  } catch {
    return undefined;
  }
}

/** Rows of `space` by ascending `field`, NULLs last. */
export function sortedRows(cache: OrderCache, space: RowSpaceIndex, field: string): Int32Array {
  // A field of the row itself is the same in either world.
  return currentRows(orderFor(cache, space, 'published', [{ path: [], field, direction: 'asc' }]));
}

function orderName(space: RowSpaceIndex, world: World, sort: readonly SortKey[]): string {
  let name = String(space.number);
  let ownFields = true;
  for (const { path, field, direction } of sort) {
    name += direction === 'asc' ? ' +' : ' -';
    for (const attribute of path) name += `${attribute}.`;
    name += field;
    ownFields &&= path.length === 0;
  }
  return ownFields ? name : `${world} ${name}`;
}

function evict(cache: OrderCache, newest: SortedOrder): void {
  let rows = 0;
  for (const { order } of cache.orders.values()) rows += order.rows.length + ORDER_OVERHEAD;
  for (const [name, { order }] of cache.orders) {
    if (rows <= cache.maxRows) return;
    if (order === newest) continue;
    rows -= order.rows.length + ORDER_OVERHEAD;
    releaseOrder(order);
    cache.orders.delete(name);
  }
}

/** Cost of an order in addition to its rows, in rows: many orders of a few rows are bounded too. */
const ORDER_OVERHEAD = 256;
