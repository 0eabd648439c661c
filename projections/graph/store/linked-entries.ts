import type { GraphRelationSide } from './graph-relation.ts';
import type { LinkRecord, LinkStore } from './link-store.ts';
import type { WorldNumber } from './row-keys.ts';

/** Entries that an entry's relation shows in a world, in order, whether or not they have rows there. */
export function linkedEntries(
  links: LinkStore,
  side: GraphRelationSide,
  entry: number,
  world: WorldNumber,
): readonly number[] {
  return inOrderOf(side, world, linksOfSide(links, side, entry)).map((record) => farOf(side, record));
}

/** Returns the links that are in a world, in the order in which this side shows them. */
export function inOrderOf(
  side: GraphRelationSide,
  world: WorldNumber,
  records: Iterable<LinkRecord>,
): LinkRecord[] {
  // Breaks ties as the index does: by key, which increases with the entry's number.
  return [...records]
    .filter(({ orders }) => orders[world] !== null)
    .sort((a, b) => nearOrder(side, a, world) - nearOrder(side, b, world) || farOf(side, a) - farOf(side, b));
}

/** Returns the slot of a link in the list of this side. Throws for a link that is not in the world. */
export function nearOrder({ side }: GraphRelationSide, { orders }: LinkRecord, world: WorldNumber): number {
  const order = orders[world];
  if (order === null) throw new Error('a link outside this world has no order');
  return side === 'owner' ? order.sourceOrder : order.targetOrder;
}

/** Returns the entry at the other end of a link. */
export function farOf({ side }: GraphRelationSide, { source, target }: LinkRecord): number {
  return side === 'owner' ? target : source;
}

/** Reads the links of an entry's relation, seen from either end. */
export function linksOfSide(
  links: LinkStore,
  { relation, side }: GraphRelationSide,
  entry: number,
): LinkRecord[] {
  return side === 'owner' ? links.ofSource(relation, entry, 0) : links.ofTarget(relation, entry);
}
