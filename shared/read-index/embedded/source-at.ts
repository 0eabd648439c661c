import type { RowSpace, World } from '../read-index.ts';
import type { Links } from './links.ts';
import { listValues } from './row-lists.ts';
import { type SourceStore, sourcesOf } from './source-store.ts';
import { componentBelow, type Spaces, worldSpace } from './spaces.ts';

type Rows = { readonly spaces: Spaces; readonly sources: SourceStore };

/** Implements `ReadIndex.sourceAt`. */
export function sourceAt(
  { spaces, sources }: Rows,
  address: RowSpace,
  world: World,
  key: number,
): Uint8Array | undefined {
  const row = rootOrdinal(spaces, address, world, key);
  return row === undefined
    ? undefined
    : sourcesOf(sources, worldSpace(spaces, address.type, world), [row])[0];
}

/** The content type's row with this key, or that the component with this key is in. */
export function rootOrdinal(
  spaces: Spaces,
  { type, path }: RowSpace,
  world: World,
  key: number,
): number | undefined {
  let space = worldSpace(spaces, type, world);
  const steps: Links[] = [];
  for (const step of path) {
    const below = componentBelow(spaces, space, step);
    steps.unshift(below.links);
    space = below.space;
  }
  let row = space.ordinals.get(key);
  for (const { backward } of steps) if (row !== undefined) row = listValues(backward.lists, row)[0];
  return row;
}
