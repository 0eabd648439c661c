import type { RowSet, SortPosition } from '../../read-index.ts';
import { readInteger } from '../documents/stored-value.ts';
import type { PlacedRelation } from '../layout/document-layout.ts';
import { WINDOW } from '../layout/index-definition.ts';
import { linkingRows, ownedTargets, partRowSet, partsOf, stepOf } from './linked-rows.ts';
import { locate, readRows } from './read-rows.ts';
import type { Session } from './session.ts';

/** Returns the row set of the rows or components that an attribute refers to. */
export function rowSetBehind(session: Session, rowSet: RowSet, attribute: string): RowSet {
  const step = stepOf(session, rowSet, attribute);
  return step.kind === 'relation' ? { type: step.target, path: [] } : partRowSet(rowSet, attribute);
}

/** Returns the keys of the rows or components that an attribute of each row refers to. */
export async function keysBehind(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  attribute: string,
): Promise<readonly (readonly number[])[]> {
  const step = stepOf(session, rowSet, attribute);
  if (step.kind !== 'relation') {
    const parts = await partsOf(session, rowSet, keys, step);
    return parts.map((list) => list.map(({ key }) => key));
  }
  return step.linkField === undefined
    ? linkingKeys(session, keys, step)
    : ownedTargets(session, rowSet, keys, attribute);
}

/**
 * Returns the keys of the rows that link to each row. One search returns at most `most` keys. If these are not all, it asks for fewer rows
 * at a time.
 */
export async function linkingKeys(
  session: Pick<Session, 'search'>,
  keys: readonly number[],
  step: Pick<PlacedRelation, 'target' | 'mappedBy'>,
  most = WINDOW,
): Promise<readonly (readonly number[])[]> {
  const { lists, incomplete } = await linkingRows(session, keys, step, { fields: [], most });
  if (!incomplete) return lists.map((list) => list.map(({ key }) => key));
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return [await manyLinkingKeys(session, only, step, most)];
  const half = Math.ceil(keys.length / 2);
  const parts = [keys.slice(0, half), keys.slice(half)];
  const found = await Promise.all(parts.map((part) => linkingKeys(session, part, step, most)));
  return found.flat();
}

/** Returns the keys of more rows than one search returns, in pages by key. */
async function manyLinkingKeys(
  session: Pick<Session, 'search'>,
  parent: number,
  step: Pick<PlacedRelation, 'target' | 'mappedBy'>,
  most: number,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let isWhole = false; !isWhole; ) {
    const { lists, incomplete } = await linkingRows(session, [parent], step, {
      fields: [],
      most,
      page: true,
      sort: [{ key: { order: 'asc' } }],
      query: { range: { key: { gt: found.at(-1) ?? -1 } } },
    });
    for (const { key } of lists[0] ?? []) found.push(key);
    isWhole = !incomplete;
  }
  return found;
}

/** Returns the values of a column of rows, by key. A row that no longer exists has none. */
export async function columnValues(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  field: string,
): Promise<ReadonlyMap<number, SortPosition[number]>> {
  const { place } = locate(session.layouts(rowSet.type), rowSet.path);
  const scalar = place.scalars.get(field);
  if (scalar === undefined) throw new Error(`${place.model.uid} has no field ${field} in the read index`);
  const name = `${place.prefix}f.${scalar.field}`;
  const isLong = scalar.fieldType === 'long';
  const rows = await readRows(session, rowSet, keys, { fields: [name] });
  return new Map(
    rows.map(({ key, fields }) => {
      const value = (fields[name]?.[0] ?? null) as string | number | null;
      return [key, isLong && value !== null ? readInteger(String(value)) : value];
    }),
  );
}
