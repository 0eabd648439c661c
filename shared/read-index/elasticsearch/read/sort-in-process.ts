import { createMergeSort } from '../../../turns/merge-sort.ts';
import { TURNS } from '../../../turns/turns.ts';
import { type Nearest, stepsAway } from '../../geo-area.ts';
import type { RowSet, SortKey, SortPosition } from '../../read-index.ts';
import { compareSortValues } from '../../sort-value.ts';
import type { Session } from './session.ts';
import { columnValues, keysBehind, rowSetBehind } from './traverse-step.ts';

type SortValue = SortPosition[number];

/** A row and its position in an order. */
export type PlacedRow = { readonly key: number; readonly position: SortPosition };

/** Returns the rows with these keys in the order of `sort`, through any paths. Ties are in the order of ascending ids. */
export async function sortInProcess(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  sort: readonly SortKey[],
): Promise<readonly PlacedRow[]> {
  const all = withId(sort);
  const positions = new Map<number, SortValue[]>(keys.map((key) => [key, []]));
  for (const sortKey of all) {
    const values = await valuesAlong(session, rowSet, keys, sortKey);
    for (const [key, position] of positions) position.push(values.get(key) ?? null);
  }
  const rows = Array.from(positions, ([key, position]): PlacedRow => ({ key, position }));
  const compare = (a: number, b: number) =>
    comparePositions(all, (rows[a] as PlacedRow).position, (rows[b] as PlacedRow).position);
  const begin = () => createMergeSort(rows.length, compare);
  const order = await TURNS.finish(TURNS.task(Number.POSITIVE_INFINITY), begin);
  return Array.from(order, (at) => rows[at] as PlacedRow);
}

function withId(sort: readonly SortKey[]): readonly SortKey[] {
  return [...sort, { path: [], field: 'id', direction: 'asc' }];
}

/** Returns whether a row comes after a position. */
export function isBehind(sort: readonly SortKey[], row: PlacedRow, place: SortPosition): boolean {
  return comparePositions(withId(sort), row.position, place) > 0;
}

function comparePositions(
  keys: readonly SortKey[],
  a: readonly SortValue[],
  b: readonly SortValue[],
): number {
  for (const [i, { direction }] of keys.entries()) {
    const order = compareSortValues(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return direction === 'asc' ? order : -order;
  }
  return 0;
}

/**
 * Returns the value that counts among several: the smallest if ascending, the largest if descending. NULL is the greatest (SEMANTICS
 * section 7).
 */
function endValue(values: readonly SortValue[], direction: SortKey['direction']): SortValue {
  let end = values[0] ?? null;
  for (const value of values) {
    const order = compareSortValues(value, end);
    if (direction === 'asc' ? order < 0 : order > 0) end = value;
  }
  return end;
}

/** Returns the value of each row that counts in the order. A branch of the path that ends early counts as NULL. */
async function valuesAlong(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  key: SortKey,
): Promise<ReadonlyMap<number, SortValue>> {
  if ('nearest' in key) return distances(session, rowSet, keys, key.nearest);
  const { path, field, direction } = key;
  const [attribute, ...rest] = path;
  if (attribute === undefined) return columnValues(session, rowSet, keys, field);
  const lists = await keysBehind(session, rowSet, keys, attribute);
  const distinct = [...new Set(lists.flat())];
  const next = rowSetBehind(session, rowSet, attribute);
  const values = await valuesAlong(session, next, distinct, { path: rest, field, direction });
  const valuesOf = (i: number) => (lists[i] ?? []).map((each) => values.get(each) ?? null);
  return new Map(keys.map((each, i) => [each, endValue(valuesOf(i), direction)]));
}

async function distances(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  nearest: Nearest,
): Promise<ReadonlyMap<number, SortValue>> {
  const { lat, lng } = nearest.columns;
  const [latitudes, longitudes] = await Promise.all(
    [lat, lng].map((field) => columnValues(session, rowSet, keys, field)),
  );
  return new Map(keys.map((key) => [key, stepsAway(nearest, latitudes?.get(key), longitudes?.get(key))]));
}
