import {
  appendToList,
  createRowLists,
  listCount,
  listValues,
  placeInList,
  type RowLists,
  removeKeepingOrder,
} from './row-lists.ts';
import { createWatchers, tellWatchers, type Watchers } from './watchers.ts';

/** The links of one relation in one world, or of a component attribute: each stored at both its ends. */
export type Links = {
  /** By source: its targets. */
  readonly forward: LinkSide;
  /** By target: its sources. */
  readonly backward: LinkSide;
};

export type LinkSide = {
  readonly lists: RowLists;
  /** Lists to be put in order before they are shown. Appending in order, the usual case, keeps a list out of here. */
  readonly unsorted: Set<number>;
  /** Called with the row of this side when it gained or lost a link. */
  readonly watchers: Watchers;
};

export type LinkOrder = { readonly sourceOrder: number; readonly targetOrder: number };

export function createLinks(): Links {
  return { forward: createSide(), backward: createSide() };
}

function createSide(): LinkSide {
  return { lists: createRowLists(true), unsorted: new Set(), watchers: createWatchers() };
}

/** Adds the link or changes its place. Looks for it at the end that has fewer, so a target with 20,000 sources costs nothing. */
export function connect(links: Links, source: number, target: number, order: LinkOrder): void {
  const { forward, backward } = links;
  const known =
    listCount(forward.lists, source) <= listCount(backward.lists, target)
      ? placeInList(forward.lists, source, target) >= 0
      : placeInList(backward.lists, target, source) >= 0;
  if (known) {
    reorder(forward, source, target, order.sourceOrder);
    reorder(backward, target, source, order.targetOrder);
    return;
  }
  append(forward, source, target, order.sourceOrder);
  append(backward, target, source, order.targetOrder);
  tellBoth(links, source, target);
}

export function disconnect(links: Links, source: number, target: number): void {
  const place = placeInList(links.forward.lists, source, target);
  if (place < 0) return;
  removeKeepingOrder(links.forward.lists, source, place);
  removeFromSide(links.backward, target, source);
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

/** The linked rows in link order; ties by key. */
export function linkedInOrder(side: LinkSide, row: number, keys: Float64Array): number[] {
  if (side.unsorted.delete(row)) sortList(side.lists, row, keys);
  return listValues(side.lists, row);
}

/** The order value of each linked row, parallel to `linkedInOrder`. */
export function linkOrders(side: LinkSide, row: number): number[] {
  const start = side.lists.starts[row] as number;
  const orders = side.lists.orders as Float64Array;
  return Array.from(orders.subarray(start, start + listCount(side.lists, row)));
}

function append(side: LinkSide, row: number, linked: number, order: number): void {
  const { lists } = side;
  const count = listCount(lists, row);
  if (count > 0) {
    const last = (lists.orders as Float64Array)[(lists.starts[row] as number) + count - 1] as number;
    if (order <= last) side.unsorted.add(row);
  }
  appendToList(lists, row, linked, order);
}

function reorder(side: LinkSide, row: number, linked: number, order: number): void {
  const place = placeInList(side.lists, row, linked);
  const orders = side.lists.orders as Float64Array;
  if (orders[place] === order) return;
  orders[place] = order;
  side.unsorted.add(row);
}

function removeFromSide(side: LinkSide, row: number, linked: number): void {
  removeKeepingOrder(side.lists, row, placeInList(side.lists, row, linked));
}

function tellBoth(links: Links, source: number, target: number): void {
  tellWatchers(links.forward.watchers, source);
  tellWatchers(links.backward.watchers, target);
}

function sortList(lists: RowLists, list: number, keys: Float64Array): void {
  const start = lists.starts[list] as number;
  const orders = lists.orders as Float64Array;
  const entries = listValues(lists, list).map((row, i) => ({ row, order: orders[start + i] as number }));
  entries.sort((a, b) => a.order - b.order || (keys[a.row] as number) - (keys[b.row] as number));
  entries.forEach(({ row, order }, i) => {
    lists.pool[start + i] = row;
    orders[start + i] = order;
  });
}
