import type { LinkedKeys, RowSpace, World } from '../read-index.ts';
import { listValues } from './row-lists.ts';
import { rootOrdinal } from './source-at.ts';
import { type Spaces, worldSpace } from './spaces.ts';

/** Implements `ReadIndex.linkedAt`. */
export function linkedAt(
  spaces: Spaces,
  address: RowSpace,
  key: number,
  { world, attribute }: { readonly world: World; readonly attribute: string },
): LinkedKeys | undefined {
  const row = rootOrdinal(spaces, address, world, key);
  if (row === undefined) return undefined;
  const owner = worldSpace(spaces, address.type, world);
  const keyOf = (space: typeof owner, ordinal: number) => space.keys[ordinal] as number;
  const definition = owner.model.attributes.get(attribute);
  const links = owner.links[world].get(attribute);
  if (definition?.kind !== 'relation' || links === undefined) return { row: keyOf(owner, row), targets: [] };
  const target = worldSpace(spaces, definition.target, world);
  const targets = listValues(links.forward.lists, row).map((ordinal) => keyOf(target, ordinal));
  return { row: keyOf(owner, row), targets };
}
