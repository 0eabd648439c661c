import { createMergeSort } from '../../../turns/merge-sort.ts';
import { TURNS } from '../../../turns/turns.ts';
import { compareCodePoints } from '../../column.ts';
import type { RowSet, SortKey, SortPosition } from '../../read-index.ts';
import { readInteger } from '../documents/stored-value.ts';
import { linkingRows, ownedTargets, partRowSet, partsOf, stepOf } from './linked-rows.ts';
import { locate, readRows } from './read-rows.ts';
import type { Session } from './session.ts';

type SortValue = SortPosition[number];

/** A row and its position in an order. */
export type PlacedRow = { readonly key: number; readonly position: SortPosition };

/** Returns the rows with these keys in the order of `sort`, through any paths; ties by ascending id. */
export async function sortInProcess(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  sort: readonly SortKey[],
): Promise<readonly PlacedRow[]> {
  const all = withId(sort);
  const positions = new Map<number, SortValue[]>(keys.map((key) => [key, []]));
  for (const { path, field, direction } of all) {
    const values = await valuesAlong(session, rowSet, keys, { path, field });
    for (const [key, position] of positions) position.push(endValue(values.get(key) ?? [null], direction));
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
    const order = compareValues(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return direction === 'asc' ? order : -order;
  }
  return 0;
}

/** The smallest value ascending, the largest descending; NULL is the greatest (SEMANTICS section 7). */
function endValue(values: readonly SortValue[], direction: 'asc' | 'desc'): SortValue {
  let end = values[0] ?? null;
  for (const value of values) {
    const order = compareValues(value, end);
    if (direction === 'asc' ? order < 0 : order > 0) end = value;
  }
  return end;
}

function compareValues(a: SortValue, b: SortValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Values of a column at the ends of a path, by key; NULL for each way that ends early. */
export async function valuesAlong(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  { path, field }: Pick<SortKey, 'path' | 'field'>,
): Promise<ReadonlyMap<number, readonly SortValue[]>> {
  const [attribute, ...rest] = path;
  if (attribute === undefined) return columnValues(session, rowSet, keys, field);
  const next = await stepFrom(session, rowSet, keys, attribute);
  const distinct = [...new Set(next.lists.flat())];
  const values = await valuesAlong(session, next.rowSet, distinct, { path: rest, field });
  return new Map(
    keys.map((key, i) => {
      const list = next.lists[i] ?? [];
      return [key, list.length === 0 ? [null] : list.flatMap((each) => values.get(each) ?? [null])];
    }),
  );
}

async function stepFrom(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  attribute: string,
): Promise<{ readonly rowSet: RowSet; readonly lists: readonly (readonly number[])[] }> {
  const step = stepOf(session, rowSet, attribute);
  if (step.kind !== 'relation') {
    const parts = await partsOf(session, rowSet, keys, step);
    return { rowSet: partRowSet(rowSet, attribute), lists: parts.map((list) => list.map(({ key }) => key)) };
  }
  const target: RowSet = { type: step.target, path: [] };
  if (step.linkField !== undefined) {
    return { rowSet: target, lists: await ownedTargets(session, rowSet, keys, attribute) };
  }
  const { lists, incomplete } = await linkingRows(session, keys, step);
  if (incomplete && keys.length > 1) {
    const half = Math.ceil(keys.length / 2);
    const parts = [keys.slice(0, half), keys.slice(half)];
    const found = await Promise.all(parts.map((part) => stepFrom(session, rowSet, part, attribute)));
    return { rowSet: target, lists: found.flatMap((part) => part.lists) };
  }
  return { rowSet: target, lists: lists.map((list) => list.map(({ key }) => key)) };
}

async function columnValues(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  field: string,
): Promise<ReadonlyMap<number, readonly SortValue[]>> {
  const { place } = locate(session.layouts(rowSet.type), rowSet.path);
  const scalar = place.scalars.get(field);
  if (scalar === undefined) throw new Error(`${place.model.uid} has no field ${field} in the read index`);
  const name = `${place.prefix}f.${field}`;
  const isLong = scalar.fieldType === 'long';
  const rows = await readRows(session, rowSet, keys, { fields: [name] });
  return new Map(
    rows.map(({ key, fields }) => {
      const value = (fields[name]?.[0] ?? null) as string | number | null;
      return [key, [isLong && value !== null ? readInteger(String(value)) : value]];
    }),
  );
}
