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
  const isOwner = side.side === 'owner';
  const far = (record: LinkRecord): number => (isOwner ? record.target : record.source);
  const order = (record: LinkRecord): number => {
    const orders = record.orders[world];
    return (isOwner ? orders?.sourceOrder : orders?.targetOrder) ?? 0;
  };
  return linksOfSide(links, side, entry)
    .filter((record) => record.orders[world] !== null)
    .sort((a, b) => order(a) - order(b) || far(a) - far(b))
    .map(far);
}

/** Reads the links of an entry's relation, seen from either end. */
export function linksOfSide(
  links: LinkStore,
  { relation, side }: GraphRelationSide,
  entry: number,
): LinkRecord[] {
  return side === 'owner' ? links.ofSource(relation, entry, 0) : links.ofTarget(relation, entry);
}
