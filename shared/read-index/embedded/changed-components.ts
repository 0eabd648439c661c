import type { IndexedComponent, RowChange } from '../read-index.ts';
import { linkedInOrder, linkOrders } from './links.ts';
import type { ComponentSpace, RowSpaceIndex } from './row-space.ts';
import { type SourceStore, sourcesOf } from './source-store.ts';
import { type Spaces, versionSpace } from './spaces.ts';

type Rows = { readonly spaces: Spaces; readonly sources: SourceStore };

/** Implements `ReadIndex.changedComponents`. */
export function changedComponents(rows: Rows, { type, version, key, row }: RowChange): readonly string[] {
  const space = versionSpace(rows.spaces, type, version);
  const held = space.ordinals.get(key);
  return held === undefined || row === null ? [] : differing(rows, space, held, row.components);
}

function differing(
  rows: Rows,
  space: RowSpaceIndex,
  row: number,
  components: IndexedComponent['components'],
): readonly string[] {
  const inComponents = [...space.model.attributes.values()].filter(
    (attribute) => !attribute.private && (attribute.kind === 'component' || attribute.kind === 'dynamiczone'),
  );
  return inComponents.flatMap(({ name }) => {
    const wanted = components[name] ?? [];
    const below = [...space.components.values()].filter(({ attribute }) => attribute === name);
    const held = below.reduce((sum, one) => sum + linkOrders(one.links.forward, row).length, 0);
    const isSame = held === wanted.length && below.every((one) => isHeld(rows, one, row, wanted));
    return isSame ? [] : [name];
  });
}

/** Returns whether the wanted components of this kind are those of the row, at the same slots. */
function isHeld(
  rows: Rows,
  { component, space, links }: ComponentSpace,
  parent: number,
  all: readonly IndexedComponent[],
): boolean {
  const held = linkedInOrder(links.forward, parent, space.keys);
  const slots = linkOrders(links.forward, parent);
  const sources = sourcesOf(rows.sources, space, held);
  const wanted = all.map((one, slot) => ({ one, slot })).filter(({ one }) => one.component === component);
  if (wanted.length !== held.length) return false;
  return wanted.every(({ one, slot }, at) => {
    const row = held[at] as number;
    const isSame = space.keys[row] === one.key && slots[at] === slot;
    if (!isSame || Buffer.compare(one.source, sources[at] as Uint8Array) !== 0) return false;
    return differing(rows, space, row, one.components).length === 0;
  });
}
