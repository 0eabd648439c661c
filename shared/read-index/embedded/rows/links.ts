import {
  appendToList,
  createRowLists,
  indexInList,
  listCount,
  listOrder,
  listValues,
  type RowLists,
  removeKeepingOrder,
  setListEntry,
  setListOrder,
} from '../lists/row-lists.ts';
import { createWatchers, notifyWatchers, type Watchers } from '../lists/watchers.ts';

/** Links of one relation in one world, or of a component attribute. Each link is stored at both its ends. */
export type Links = {
  /** Targets by source. */
  readonly forward: LinkSide;
  /** Sources by target. */
  readonly backward: LinkSide;
};

export type LinkSide = {
  readonly lists: RowLists;
  /** Lists that must be sorted before they are read. An append in order, which is the usual case, adds no list here. */
  readonly unsorted: Set<number>;
  /** Called with a row of this side that gained or lost a link. */
  readonly watchers: Watchers;
};

export type IndexedLinkOrder = { readonly sourceOrder: number; readonly targetOrder: number };

/** Creates the links of a relation that has none. */
export function createLinks(): Links {
  return { forward: createSide(), backward: createSide() };
}

function createSide(): LinkSide {
  return { lists: createRowLists(true), unsorted: new Set(), watchers: createWatchers() };
}

/** Adds a link or changes its slot. Searches at the end that has fewer links, so a target with 20,000 sources costs nothing. */
export function connectRows(links: Links, source: number, target: number, order: IndexedLinkOrder): void {
  const { forward, backward } = links;
  const known =
    listCount(forward.lists, source) <= listCount(backward.lists, target)
      ? indexInList(forward.lists, source, target) >= 0
      : indexInList(backward.lists, target, source) >= 0;
  if (known) {
    reorder(forward, source, target, order.sourceOrder);
    reorder(backward, target, source, order.targetOrder);
    return;
  }
  append(forward, source, target, order.sourceOrder);
  append(backward, target, source, order.targetOrder);
  tellBoth(links, source, target);
}

/** Removes a link at both ends. Does nothing if there is none. */
export function disconnect(links: Links, source: number, target: number): void {
  const { forward, backward } = links;
  const index = indexInList(forward.lists, source, target);
  if (index < 0) return;
  removeKeepingOrder(forward.lists, source, index);
  removeKeepingOrder(backward.lists, target, indexInList(backward.lists, target, source));
  tellBoth(links, source, target);
}

/** Removes all links from `source`. */
export function disconnectSource(links: Links, source: number): void {
  for (const target of listValues(links.forward.lists, source)) disconnect(links, source, target);
}

/** Removes all links to `target`. */
export function disconnectTarget(links: Links, target: number): void {
  for (const source of listValues(links.backward.lists, target)) disconnect(links, source, target);
}

/** Returns the linked rows in link order; ties by key. */
export function linkedInOrder(side: LinkSide, row: number, keys: Float64Array): number[] {
  // The check of `size` avoids a look-up in an empty set. That would take a tenth of a microsecond for each row of a page and each
  // relation.
  if (side.unsorted.size > 0 && side.unsorted.delete(row)) sortList(side.lists, row, keys);
  return listValues(side.lists, row);
}

/** Returns the order value of each linked row, parallel to `linkedInOrder`. */
export function linkOrders(side: LinkSide, row: number): number[] {
  return Array.from({ length: listCount(side.lists, row) }, (_, index) => listOrder(side.lists, row, index));
}

function append(side: LinkSide, row: number, linked: number, order: number): void {
  const { lists } = side;
  const count = listCount(lists, row);
  if (count > 0 && order <= listOrder(lists, row, count - 1)) side.unsorted.add(row);
  appendToList(lists, row, linked, order);
}

function reorder(side: LinkSide, row: number, linked: number, order: number): void {
  const index = indexInList(side.lists, row, linked);
  if (listOrder(side.lists, row, index) === order) return;
  setListOrder(side.lists, row, index, order);
  side.unsorted.add(row);
}

function tellBoth(links: Links, source: number, target: number): void {
  notifyWatchers(links.forward.watchers, source);
  notifyWatchers(links.backward.watchers, target);
}

function sortList(lists: RowLists, list: number, keys: Float64Array): void {
  const entries = listValues(lists, list).map((row, i) => ({ row, order: listOrder(lists, list, i) }));
  entries.sort((a, b) => a.order - b.order || (keys[a.row] as number) - (keys[b.row] as number));
  entries.forEach(({ row, order }, i) => {
    setListEntry(lists, list, i, row);
    setListOrder(lists, list, i, order);
  });
}
