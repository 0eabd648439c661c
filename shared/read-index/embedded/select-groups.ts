import type { SortPosition, World } from '../read-index.ts';
import { sortValue } from './indexed-column.ts';
import type { OrderCache } from './order-cache.ts';
import type { RankGroup, RankGroups } from './rank-term.ts';
import type { RowSetIndex } from './row-set.ts';
import { createPageSelection, createSelectionAfter } from './select-page.ts';

/** Context of the default order, which is the order of rows with the same rank. */
type GroupContext = { readonly orders: OrderCache; readonly rowSet: RowSetIndex; readonly world: World };

/** Selects the rows of a page by rank, ties by id. If a call ends with its slice, the next call continues. */
export function createGroupedPage(
  context: GroupContext,
  groups: RankGroups,
  { from, size }: { readonly from: number; readonly size: number },
): () => readonly number[] {
  const found: number[] = [];
  let before = 0;
  let group: RankGroup | undefined;
  let select: (() => readonly number[]) | undefined;
  return () => {
    while (found.length < size) {
      group ??= groups();
      if (group === undefined) break;
      const { rows: matched, count } = group;
      const page = { sort: [], from: Math.max(0, from - before), size: size - found.length };
      select ??= createPageSelection({ ...context, matched, count }, page);
      for (const row of select()) found.push(row);
      before += count;
      group = undefined;
      select = undefined;
    }
    return found;
  };
}

/** Selects at most `size` rows after a position in the order. Also returns the position of the last row; null if no row follows. */
export function createGroupedPageAfter(
  context: GroupContext,
  groups: RankGroups,
  { after, size }: { readonly after: SortPosition | null; readonly size: number },
): () => { readonly rows: readonly number[]; readonly next: SortPosition | null } {
  const [rankBefore, idBefore] = after === null ? [Number.NEGATIVE_INFINITY, null] : after.map(Number);
  const found: { readonly row: number; readonly rank: number }[] = [];
  let group: RankGroup | undefined;
  let select: (() => { readonly rows: readonly number[] }) | undefined;
  return () => {
    // One row more than the page shows whether another row follows.
    while (found.length <= size) {
      group ??= groups();
      if (group === undefined) break;
      const { rows: matched, count, rank } = group;
      if (rank >= (rankBefore as number)) {
        const behind = rank === rankBefore ? [idBefore as number] : null;
        const page = { sort: [], from: 0, size: size + 1 - found.length, after: behind };
        select ??= createSelectionAfter({ ...context, matched, count }, page);
        for (const row of select().rows) found.push({ row, rank });
      }
      group = undefined;
      select = undefined;
    }
    const rows = found.slice(0, size).map(({ row }) => row);
    const last = found[size - 1];
    if (found.length <= size || last === undefined) return { rows, next: null };
    return { rows, next: [last.rank, Number(sortValue(context.rowSet.ids, last.row))] };
  };
}
