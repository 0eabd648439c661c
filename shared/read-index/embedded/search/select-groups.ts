import type { SearchRequest, SortPosition } from '../../read-index.ts';
import { orderFor } from '../order/order-cache.ts';
import { positionOf } from '../order/select-after.ts';
import {
  createPageSelection,
  createSelectionAfter,
  type RequestedRows,
  type Selected,
  type SelectedRows,
} from '../order/select-page.ts';
import type { RankGroup, RankGroups } from './rank-term.ts';

/** Context of the default order, which is the order of rows with the same rank. */
type GroupContext = Omit<Selected, 'matched' | 'count'>;

/** Selects rows by rank, ties by `sort` and id. If a call ends with its slice, the next call continues. */
export function createGroupedPage(
  context: GroupContext,
  groups: RankGroups,
  request: RequestedRows & Pick<SearchRequest, 'sort'>,
): () => SelectedRows {
  const { cursor, from, size, sort } = request;
  if (cursor !== undefined) return createGroupedPageAfter(context, groups, cursor.after, request);
  const found: number[] = [];
  let before = 0;
  let group: RankGroup | undefined;
  let select: (() => readonly number[]) | undefined;
  return () => {
    while (found.length < size) {
      group ??= groups();
      if (group === undefined) break;
      const { rows: matched, count } = group;
      const page = { sort, from: Math.max(0, from - before), size: size - found.length };
      select ??= createPageSelection({ ...context, matched, count }, page);
      for (const row of select()) found.push(row);
      before += count;
      group = undefined;
      select = undefined;
    }
    return { rows: found };
  };
}

function createGroupedPageAfter(
  context: GroupContext,
  groups: RankGroups,
  after: SortPosition | null,
  { size, sort }: Pick<SearchRequest, 'size' | 'sort'>,
): () => SelectedRows {
  const rankBefore = after === null ? Number.NEGATIVE_INFINITY : Number(after[0]);
  const { keys } = orderFor(context.orders, context.rowSet, context.world, sort);
  const found: { readonly row: number; readonly rank: number }[] = [];
  let group: RankGroup | undefined;
  let select: (() => SelectedRows) | undefined;
  return () => {
    // Selects one row more than the page has. If it exists, another page follows.
    while (found.length <= size) {
      group ??= groups();
      if (group === undefined) break;
      const { rows: matched, count, rank } = group;
      if (rank >= rankBefore) {
        const behind = after !== null && rank === rankBefore ? after.slice(1) : null;
        const page = { sort, from: 0, size: size + 1 - found.length, after: behind };
        select ??= createSelectionAfter({ ...context, matched, count }, page);
        for (const row of select().rows) found.push({ row, rank });
      }
      group = undefined;
      select = undefined;
    }
    const rows = found.slice(0, size).map(({ row }) => row);
    const last = found[size - 1];
    if (found.length <= size || last === undefined) return { rows, next: null };
    return { rows, next: [last.rank, ...positionOf(keys, last.row)] };
  };
}
