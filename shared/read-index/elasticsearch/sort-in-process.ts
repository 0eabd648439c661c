import type { Scalar } from '../bool-query.ts';
import { compareCodePoints } from '../column.ts';
import type { RowSpace, SortKey } from '../read-index.ts';
import { linkingRows, ownedTargets, partSpace, partsOf, stepOf } from './linked-rows.ts';
import { locate, readRows } from './read-rows.ts';
import type { Session } from './session.ts';

type SortValue = Scalar | null;

/** The rows with these keys in the order of `sort`, whatever its paths lead through; ties by ascending id. */
export async function sortInProcess(
  session: Session,
  space: RowSpace,
  keys: readonly number[],
  sort: readonly SortKey[],
): Promise<readonly number[]> {
  const all: readonly SortKey[] = [...sort, { path: [], field: 'id', direction: 'asc' }];
  const columns: { readonly of: ReadonlyMap<number, SortValue>; readonly sign: 1 | -1 }[] = [];
  for (const { path, field, direction } of all) {
    const values = await valuesAlong(session, space, keys, path, field);
    const of = new Map(keys.map((key) => [key, endValue(values.get(key) ?? [null], direction)]));
    columns.push({ of, sign: direction === 'asc' ? 1 : -1 });
  }
  return [...keys].sort((a, b) => {
    for (const { of, sign } of columns) {
      const order = compareValues(of.get(a) ?? null, of.get(b) ?? null);
      if (order !== 0) return sign * order;
    }
    return 0;
  });
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

/** By key: the values of a column at the ends of a path, NULL for each way that ends early. */
async function valuesAlong(
  session: Session,
  space: RowSpace,
  keys: readonly number[],
  path: readonly string[],
  field: string,
): Promise<ReadonlyMap<number, readonly SortValue[]>> {
  const [attribute, ...rest] = path;
  if (attribute === undefined) return columnValues(session, space, keys, field);
  const next = await stepFrom(session, space, keys, attribute);
  const distinct = [...new Set(next.lists.flat())];
  const values = await valuesAlong(session, next.space, distinct, rest, field);
  return new Map(
    keys.map((key, i) => {
      const list = next.lists[i] ?? [];
      return [key, list.length === 0 ? [null] : list.flatMap((each) => values.get(each) ?? [null])];
    }),
  );
}

async function stepFrom(
  session: Session,
  space: RowSpace,
  keys: readonly number[],
  attribute: string,
): Promise<{ readonly space: RowSpace; readonly lists: readonly (readonly number[])[] }> {
  const step = stepOf(session, space, attribute);
  if (step.kind !== 'relation') {
    const parts = await partsOf(session, space, keys, step);
    return { space: partSpace(space, attribute), lists: parts.map((list) => list.map(({ key }) => key)) };
  }
  const target: RowSpace = { type: step.target, path: [] };
  if (step.linkField !== undefined) {
    return { space: target, lists: await ownedTargets(session, space, keys, attribute) };
  }
  const { lists } = await linkingRows(session, keys, step);
  return { space: target, lists: lists.map((list) => list.map(({ key }) => key)) };
}

async function columnValues(
  session: Session,
  space: RowSpace,
  keys: readonly number[],
  field: string,
): Promise<ReadonlyMap<number, readonly SortValue[]>> {
  const { place } = locate(session.layouts(space.type), space.path);
  const scalar = place.scalars.get(field);
  if (scalar === undefined) throw new Error(`${place.model.uid} has no field ${field} in the read index`);
  const name = `${place.prefix}f.${field}`;
  const exact = scalar.fieldType === 'long';
  const rows = await readRows(session, space, keys, [exact ? { field: name, format: '#' } : name]);
  return new Map(
    rows.map(({ key, fields }) => {
      const value = (fields[name]?.[0] ?? null) as SortValue;
      return [key, [exact && value !== null ? BigInt(value) : value]];
    }),
  );
}
