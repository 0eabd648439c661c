import { ROW_COST } from '../lists/costs.ts';
import { orderFor } from '../order/order-cache.ts';
import type { CountedRows, Page, Selected } from '../order/select-page.ts';
import { currentRows } from '../order/sorted-order.ts';
import type { Matcher } from './matcher.ts';

/** Maximum nanoseconds of testing rows for one page, because this runs in one slice. */
const TESTING_COST = 50_000;

/**
 * Selects the rows of one page by testing rows in their order, without collecting all matches. Returns undefined if the number of matches is
 * not known, or if collecting them may cost less.
 */
export function pageByTests(
  { orders, rowSet, world }: Omit<Selected, 'matched' | 'count'>,
  { estimate: count, isExact, cost, testCost, test, bits }: Matcher,
  { from, size, sort }: Page,
): CountedRows | undefined {
  // A page of known rows needs no collection.
  if (isExact !== true || bits !== undefined) return undefined;
  if (from >= count || size <= 0) return { count, rows: [] };
  const most = Math.floor(Math.min(TESTING_COST, cost / 2) / (ROW_COST + testCost));
  if (((from + size) / count) * rowSet.count > most) return undefined;
  const order = sort.length === 0 && rowSet.idsAscend ? undefined : orderFor(orders, rowSet, world, sort);
  if (order?.built === false) return undefined;
  const inOrder = order && currentRows(order);
  const rows = firstTested(
    inOrder,
    Math.min(most, inOrder?.length ?? rowSet.size),
    test,
    Math.min(from + size, count),
  );
  return rows && { count, rows: rows.slice(from) };
}

/** Returns the first matching rows among so many rows of an order (absent: by ordinal); undefined if there are fewer. */
function firstTested(
  inOrder: Int32Array | undefined,
  most: number,
  test: Matcher['test'],
  wanted: number,
): readonly number[] | undefined {
  const rows: number[] = [];
  for (let i = 0; i < most; i++) {
    const row = inOrder === undefined ? i : (inOrder[i] as number);
    if (test(row) && rows.push(row) === wanted) return rows;
  }
  return undefined;
}
