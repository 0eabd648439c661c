import { rest } from '../turns/slice.ts';
import type { SortValue } from './sort-value.ts';

/** Request for groups of the found rows: those with the same value of a short text of their own. */
export type GroupRequest = {
  readonly field: string;
  /** Maximum rows of a group in the result. */
  readonly limit: number;
};

/**
 * A group of a page. `count` rows with this value were found, and the result has the first `hits` of them. A row without a value is a group
 * of its own. `value` has at most 1,000 characters; a longer value is cut.
 */
export type RowGroup = { readonly value: string | null; readonly count: number; readonly hits: number };

/** Rows of a page of groups, group by group. `total`: number of groups on all pages. */
export type GroupedRows = {
  readonly total: number;
  readonly rows: readonly number[];
  readonly groups: readonly RowGroup[];
};

type Group = { readonly value: string | null; readonly rows: number[]; count: number };

/** Page of groups: `from` and `size` count groups. */
type GroupPage = { readonly from: number; readonly size: number; readonly limit: number };

/** Characters of a value in a result. Elasticsearch keeps more of each value. */
const VALUE_CHARACTERS = 1_000;

/** Returns the value of a group as results have it. */
export function shownValue(value: string | null): string | null {
  return value === null ? null : value.slice(0, VALUE_CHARACTERS).toWellFormed();
}

/** Steps of a slice for so many rows. */
const ROWS_AT_ONCE = 256;

/**
 * Groups all found rows, which are in their order. The groups are in the order of their first rows. If a call ends with its slice, the next
 * call continues.
 */
export function createRowGroups(
  rows: readonly number[],
  readValue: (row: number) => SortValue,
  { from, size, limit }: GroupPage,
): () => GroupedRows {
  const groups: Group[] = [];
  // Only the values of groups on other pages are kept: there may be as many groups as entries.
  const byValue = new Map<string, Group | 'elsewhere'>();
  let [next, total] = [0, 0];
  const groupOf = (found: SortValue): Group | 'elsewhere' => {
    const value = found === null ? null : String(found);
    const known = value === null ? undefined : byValue.get(value);
    if (known !== undefined) return known;
    const isShown = total >= from && total < from + size;
    total++;
    const group = isShown ? { value, rows: [], count: 0 } : 'elsewhere';
    if (group !== 'elsewhere') groups.push(group);
    if (value !== null) byValue.set(value, group);
    return group;
  };
  return () => {
    while (next < rows.length) {
      const row = rows[next++] as number;
      const group = groupOf(readValue(row));
      if (group !== 'elsewhere') {
        group.count++;
        if (group.rows.length < limit) group.rows.push(row);
      }
      if (next % ROWS_AT_ONCE === 0) rest(ROWS_AT_ONCE);
    }
    return {
      total,
      rows: groups.flatMap((group) => group.rows),
      groups: groups.map(({ value, count, rows: { length } }) => ({
        value: shownValue(value),
        count,
        hits: length,
      })),
    };
  };
}
