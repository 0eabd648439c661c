import type { SortKey, World } from '../read-index.ts';
import { type Bits, countBits, hasBit, selectRows } from './bits.ts';
import { KEY_COST, ROW_COST } from './costs.ts';
import { type OrderCache, orderFor } from './order-cache.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { sortRows } from './sort-rows.ts';
import { currentRows, type SortedOrder } from './sorted-order.ts';

export type Page = { readonly sort: readonly SortKey[]; readonly from: number; readonly size: number };

/** The rows of one page among the `count` that `matched` holds. */
export function selectPage(
  orders: OrderCache,
  space: RowSpaceIndex,
  world: World,
  matched: Bits,
  count: number,
  page: Page,
): readonly number[] {
  if (page.from >= count || page.size <= 0) return [];
  if (page.sort.length === 0 && space.idsAscend) return selectRows(matched, page.from, page.size);
  const order = orderFor(orders, space, world, page.sort);
  if (!worthWalking(order, count, page)) {
    const sorted = sortRows(order.keys, selectRows(matched, 0, count));
    return Array.from(sorted.subarray(page.from, page.from + page.size));
  }
  const rows = currentRows(order);
  if (count === rows.length) return Array.from(rows.subarray(page.from, page.from + page.size));
  return walk(rows, matched, page);
}

/**
 * Whether going through the whole space in order costs less than sorting the matches. When the order is not built yet, what
 * sorting costs is added up until building would have paid.
 */
function worthWalking(order: SortedOrder, count: number, page: Page): boolean {
  const { space, keys } = order;
  const sorting = count * KEY_COST * (keys.length + Math.log2(count + 1));
  if (order.built) {
    const repair = order.moved.size === 0 ? 0 : space.count * 0.5;
    const share = count === space.count ? page.size / space.count : (page.from + page.size) / count;
    return repair + space.count * ROW_COST * Math.min(1, share) < sorting;
  }
  order.missed += sorting;
  return order.missed >= space.count * KEY_COST * (keys.length + Math.log2(space.count + 1));
}

function walk(rows: Int32Array, matched: Bits, page: Page): readonly number[] {
  const found: number[] = [];
  let skip = page.from;
  for (let i = 0; i < rows.length && found.length < page.size; i++) {
    const row = rows[i] as number;
    if (!hasBit(matched, row)) continue;
    if (skip > 0) skip--;
    else found.push(row);
  }
  return found;
}

export function countMatches(space: RowSpaceIndex, matched: Bits): number {
  return matched === space.live ? space.count : countBits(matched);
}
