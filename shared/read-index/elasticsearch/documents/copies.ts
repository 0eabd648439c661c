import { createRecentValues, type RecentValues } from '../../../recent-values.ts';
import type { Neighbours } from '../../document-index.ts';
import type { Place } from '../layout/document-layout.ts';

/** Copies of rows at one node of the documents of one world, as JSON, by row key. */
export type Copies = RecentValues<number, Buffer>;

/** Bytes cached at each node for the next documents of a world. */
const CACHED_BYTES = 2 ** 24;
const copies = new WeakMap<Neighbours, Map<Place, Copies>>();

/** Cached copies of a node. */
export function copiesAt(neighbours: Neighbours, place: Place): Copies {
  const byPlace = copies.get(neighbours) ?? new Map<Place, Copies>();
  const known = byPlace.get(place);
  if (known !== undefined) return known;
  const created = createRecentValues<number, Buffer>(CACHED_BYTES, (copy) => copy.length);
  copies.set(neighbours, byPlace.set(place, created));
  return created;
}
