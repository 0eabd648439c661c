import type { Model } from '../../schema/content-type.ts';
import type { Scalar } from '../bool-query.ts';
import type { HeldRows } from '../held-rows.ts';
import type { IndexedComponent, IndexedRow, World } from '../read-index.ts';
import { hasBit } from './bits.ts';
import type { IndexedColumn } from './indexed-column.ts';
import { linkedInOrder, linkOrders } from './links.ts';
import { valueInNumberColumn } from './number-column.ts';
import { indexInList, listOrder } from './row-lists.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { type SourceStore, sourcesOf } from './source-store.ts';
import { type Spaces, spaceAt, stepFrom, worldSpace } from './spaces.ts';
import { valueInTermColumn } from './term-column.ts';

/** Reads the content of the index back. Stores nothing, so it may be used at any time. */
export function readHeldRows(spaces: Spaces, sources: SourceStore, world: World): HeldRows {
  return {
    keys(type, from, limit) {
      const space = worldSpace(spaces, type, world);
      const keys: number[] = [];
      let row = from;
      for (; row < space.size && keys.length < limit; row++) {
        if (hasBit(space.live, row)) keys.push(space.keys[row] as number);
      }
      return { keys, next: row < space.size ? row : undefined };
    },
    row(type, key) {
      const space = worldSpace(spaces, type, world);
      const row = space.ordinals.get(key);
      return row === undefined ? undefined : heldRow(sources, space, row);
    },
    linked(address, key, attribute) {
      const space = spaceAt(spaces, address, world);
      const row = space.ordinals.get(key);
      if (row === undefined) return [];
      const { target, down, up } = stepFrom(spaces, space, world, attribute);
      return linkedInOrder(down, row, target.keys).map((linked) => ({
        key: target.keys[linked] as number,
        otherOrder: listOrder(up.lists, linked, indexInList(up.lists, linked, row)),
      }));
    },
  };
}

function heldRow(sources: SourceStore, space: RowSpaceIndex, row: number): IndexedRow {
  const [source = new Uint8Array()] = sourcesOf(sources, space, [row]);
  const fields = Object.fromEntries(space.columns.map((column) => [column.field, heldValue(column, row)]));
  return { source, fields, components: heldComponents(sources, space, row) };
}

function heldValue({ store }: IndexedColumn, row: number): Scalar | null {
  return store.kind === 'terms'
    ? valueInTermColumn(store.column, row)
    : valueInNumberColumn(store.column, row);
}

function heldComponents(
  sources: SourceStore,
  parent: RowSpaceIndex,
  parentRow: number,
): IndexedRow['components'] {
  const found: Record<string, { readonly order: number; readonly component: IndexedComponent }[]> = {};
  for (const name of componentAttributes(parent.model)) found[name] = [];
  for (const { attribute, component, space, links } of parent.components.values()) {
    // Puts the links in order, which the orders are read in.
    const rows = linkedInOrder(links.forward, parentRow, space.keys);
    const orders = linkOrders(links.forward, parentRow);
    for (const [at, row] of rows.entries()) {
      const held = { ...heldRow(sources, space, row), component, key: space.keys[row] as number };
      found[attribute]?.push({ order: orders[at] as number, component: held });
    }
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, list]) => [
      name,
      list.sort((a, b) => a.order - b.order).map(({ component }) => component),
    ]),
  );
}

function componentAttributes({ attributes }: Model): readonly string[] {
  return [...attributes.values()].flatMap(({ kind, name, private: hidden }) =>
    (kind === 'component' || kind === 'dynamiczone') && !hidden ? [name] : [],
  );
}
