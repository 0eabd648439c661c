import { attributesWithComponents } from '../../../schema/component-uids.ts';
import type { IndexedComponent, RowChange } from '../../read-index.ts';
import { linkedInOrder, linkOrders } from '../rows/links.ts';
import type { ComponentRowSet, RowSetIndex } from '../rows/row-set.ts';
import { type RowSets, versionRowSet } from '../rows/row-sets.ts';
import { sourcesOf } from './source-store.ts';

/** Implements `LocalRows.changedComponents`. */
export function changedComponents(
  rowSets: RowSets,
  { type, version, key, row }: RowChange,
): readonly string[] {
  const rowSet = versionRowSet(rowSets, type, version);
  const existing = rowSet.ordinals.get(key);
  return existing === undefined || row === null ? [] : differing(rowSet, existing, row.components);
}

function differing(
  rowSet: RowSetIndex,
  row: number,
  components: IndexedComponent['components'],
): readonly string[] {
  return attributesWithComponents(rowSet.model).flatMap(({ name, private: isPrivate }) => {
    if (isPrivate) return [];
    const wanted = components[name] ?? [];
    const below = [...rowSet.components.values()].filter(({ attribute }) => attribute === name);
    const existing = below.reduce((sum, one) => sum + linkOrders(one.links.forward, row).length, 0);
    const isSame = existing === wanted.length && below.every((one) => isUnchanged(one, row, wanted));
    return isSame ? [] : [name];
  });
}

/** Returns whether the expected components of this kind are those of the row, in the same slots. */
function isUnchanged(
  { component, rowSet, links }: ComponentRowSet,
  parent: number,
  all: readonly IndexedComponent[],
): boolean {
  const existing = linkedInOrder(links.forward, parent, rowSet.keys);
  const slots = linkOrders(links.forward, parent);
  const sources = sourcesOf(rowSet, existing);
  const wanted = all.map((one, slot) => ({ one, slot })).filter(({ one }) => one.component === component);
  if (wanted.length !== existing.length) return false;
  return wanted.every(({ one, slot }, at) => {
    const row = existing[at] as number;
    const isSame = rowSet.keys[row] === one.key && slots[at] === slot;
    if (!isSame || Buffer.compare(one.source, sources[at] as Uint8Array) !== 0) return false;
    return differing(rowSet, row, one.components).length === 0;
  });
}
