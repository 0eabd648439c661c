import type { RowSpace, World } from '../read-index.ts';
import type { Links } from './links.ts';
import { listValues } from './row-lists.ts';
import { type SourceStore, sourcesOf } from './source-store.ts';
import { componentBelow, type Spaces, worldSpace } from './spaces.ts';

type Rows = { readonly spaces: Spaces; readonly sources: SourceStore };

/** See `ReadIndex.sourceAt`. */
export function sourceAt(
  { spaces, sources }: Rows,
  { type, path }: RowSpace,
  world: World,
  key: number,
): Uint8Array | undefined {
  const root = worldSpace(spaces, type, world);
  let space = root;
  const steps: Links[] = [];
  for (const step of path) {
    const below = componentBelow(spaces, space, step);
    steps.unshift(below.links);
    space = below.space;
  }
  let row = space.ordinals.get(key);
  for (const { backward } of steps) if (row !== undefined) row = listValues(backward.lists, row)[0];
  return row === undefined ? undefined : sourcesOf(sources, root, [row])[0];
}
