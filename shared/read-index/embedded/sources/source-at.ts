import type { RowSet, World } from '../../read-index.ts';
import { listValues } from '../lists/row-lists.ts';
import type { Links } from '../rows/links.ts';
import { componentBelow, type RowSets, worldRowSet } from '../rows/row-sets.ts';
import { sourcesOf } from './source-store.ts';

/** Implements `LocalRows.sourceAt`. */
export function sourceAt(
  rowSets: RowSets,
  address: RowSet,
  world: World,
  key: number,
): Uint8Array | undefined {
  const row = rootOrdinal(rowSets, address, world, key);
  return row === undefined ? undefined : sourcesOf(worldRowSet(rowSets, address.type, world), [row])[0];
}

/** Returns the ordinal of the content type's row with this key, or of the row that contains the component with this key. */
export function rootOrdinal(
  rowSets: RowSets,
  { type, path }: RowSet,
  world: World,
  key: number,
): number | undefined {
  let rowSet = worldRowSet(rowSets, type, world);
  const steps: Links[] = [];
  for (const step of path) {
    const below = componentBelow(rowSets, rowSet, step);
    steps.unshift(below.links);
    rowSet = below.rowSet;
  }
  let row = rowSet.ordinals.get(key);
  for (const { backward } of steps) if (row !== undefined) row = listValues(backward.lists, row)[0];
  return row;
}
