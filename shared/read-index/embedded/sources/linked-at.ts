import type { LinkedKeys, RowSet, World } from '../../read-index.ts';
import { listValues } from '../lists/row-lists.ts';
import { type RowSets, worldRowSet } from '../rows/row-sets.ts';
import { rootOrdinal } from './source-at.ts';

/** Implements `LocalRows.linkedAt`. */
export function linkedAt(
  rowSets: RowSets,
  address: RowSet,
  key: number,
  { world, attribute }: { readonly world: World; readonly attribute: string },
): LinkedKeys | undefined {
  const row = rootOrdinal(rowSets, address, world, key);
  if (row === undefined) return undefined;
  const owner = worldRowSet(rowSets, address.type, world);
  const keyOf = (rowSet: typeof owner, ordinal: number) => rowSet.keys[ordinal] as number;
  const definition = owner.model.attributes.get(attribute);
  const links = owner.links[world].get(attribute);
  if (definition?.kind !== 'relation' || links === undefined) return { row: keyOf(owner, row), targets: [] };
  const target = worldRowSet(rowSets, definition.target, world);
  const targets = listValues(links.forward.lists, row).map((ordinal) => keyOf(target, ordinal));
  return { row: keyOf(owner, row), targets };
}
