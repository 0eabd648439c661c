import { valueAt } from '../../../map-values.ts';
import { createRecentValues, type RecentValues } from '../../../recent-values.ts';
import { remembered } from '../../../remembered.ts';
import type { Neighbours } from '../../document-index.ts';
import type { Place } from '../layout/document-layout.ts';

/** Copies of rows at one node in the documents of one world, as JSON, by row key. */
export type Copies = RecentValues<number, Buffer>;

/** Bytes cached at each node, for the next documents of a world. */
const CACHED_BYTES = 2 ** 24;
const copiesIn = remembered((_: Neighbours) => new Map<Place, Copies>());

/** Returns the cached copies of a node. */
export function copiesAt(neighbours: Neighbours, place: Place): Copies {
  return valueAt(copiesIn(neighbours), place, () =>
    createRecentValues<number, Buffer>(CACHED_BYTES, (copy) => copy.length),
  );
}
