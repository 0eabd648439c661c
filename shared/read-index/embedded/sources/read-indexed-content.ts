import { attributesWithComponents } from '../../../schema/component-uids.ts';
import type { Scalar } from '../../bool-query.ts';
import type { IndexedContent } from '../../indexed-content.ts';
import type { IndexedComponent, IndexedRow, World } from '../../read-index.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { valueInNumberColumn } from '../columns/number-column.ts';
import { valueInTermColumn } from '../columns/term-column.ts';
import { hasBit } from '../lists/bits.ts';
import { indexInList, listOrder } from '../lists/row-lists.ts';
import { linkedInOrder, linkOrders } from '../rows/links.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { type RowSets, rowSetAt, stepFrom, worldRowSet } from '../rows/row-sets.ts';
import { sourcesOf } from './source-store.ts';

/** Reads the content of the index back. It stores nothing, so it may be used at any time. */
export function readIndexedContent(rowSets: RowSets, world: World): IndexedContent {
  return {
    keys(type, from, limit) {
      const rowSet = worldRowSet(rowSets, type, world);
      const keys: number[] = [];
      let row = from;
      for (; row < rowSet.size && keys.length < limit; row++) {
        if (hasBit(rowSet.present, row)) keys.push(rowSet.keys[row] as number);
      }
      return { keys, next: row < rowSet.size ? row : undefined };
    },
    row(type, key) {
      const rowSet = worldRowSet(rowSets, type, world);
      const row = rowSet.ordinals.get(key);
      return row === undefined ? undefined : indexedRow(rowSet, row);
    },
    linked(address, key, attribute) {
      const rowSet = rowSetAt(rowSets, address, world);
      const row = rowSet.ordinals.get(key);
      if (row === undefined) return [];
      const { target, down, up } = stepFrom(rowSets, rowSet, world, attribute);
      return linkedInOrder(down, row, target.keys).map((linked) => ({
        key: target.keys[linked] as number,
        otherOrder: listOrder(up.lists, linked, indexInList(up.lists, linked, row)),
      }));
    },
  };
}

function indexedRow(rowSet: RowSetIndex, row: number): IndexedRow {
  const [source = new Uint8Array()] = sourcesOf(rowSet, [row]);
  const values = rowSet.columns.map((column) => [column.field, indexedValue(column, row)] as const);
  return { source, fields: Object.fromEntries(values), components: indexedComponents(rowSet, row) };
}

function indexedValue({ store }: IndexedColumn, row: number): Scalar | null {
  return store.kind === 'terms'
    ? valueInTermColumn(store.column, row)
    : valueInNumberColumn(store.column, row);
}

function indexedComponents(parent: RowSetIndex, parentRow: number): IndexedRow['components'] {
  const found: Record<string, { readonly order: number; readonly component: IndexedComponent }[]> = {};
  for (const { name, private: isPrivate } of attributesWithComponents(parent.model))
    if (!isPrivate) found[name] = [];
  for (const { attribute, component, rowSet, links } of parent.components.values()) {
    // This sorts the links, and orders are read in the same sequence, so it comes first.
    const rows = linkedInOrder(links.forward, parentRow, rowSet.keys);
    const orders = linkOrders(links.forward, parentRow);
    for (const [at, row] of rows.entries()) {
      const indexed = { ...indexedRow(rowSet, row), component, key: rowSet.keys[row] as number };
      found[attribute]?.push({ order: orders[at] as number, component: indexed });
    }
  }
  const inOrder = (list: (typeof found)[string]) =>
    list.sort((a, b) => a.order - b.order).map(({ component }) => component);
  return Object.fromEntries(Object.entries(found).map(([name, list]) => [name, inOrder(list)]));
}
