import { valueAt } from '../../../map-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { World } from '../../read-index.ts';

/** Names of the indices, in a cluster that others use as well: they all begin with the namespace. */
export type IndexNames = {
  /** Name for searches: an alias of the live index. */
  alias(type: Uid, world: World): string;
  /** The index itself: a new one for every generation of its layout or contents. */
  index(type: Uid, world: World, generation: number): string;
};

/** Creates names such as `varve-api_restaurant_restaurant-published` (alias) and the same with `-7` (index). */
export function createIndexNames(space: string): IndexNames {
  const aliases = { draft: new Map<Uid, string>(), published: new Map<Uid, string>() };
  // Every search needs one.
  const alias = (type: Uid, world: World) =>
    valueAt(aliases[world], type, () => `${space}-${typeSlug(type)}-${world}`);
  return { alias, index: (type, world, generation) => `${alias(type, world)}-${generation}` };
}

/** `api::restaurant.restaurant` → `api_restaurant_restaurant`: an index name is in lower case and has no colon. */
export function typeSlug(type: Uid): string {
  return type.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
}

/**
 * Name for writes: an alias that the index has from its creation and no other index ever has. A request that requires
 * an alias does not create an index that was removed.
 */
export function writeAlias(index: string): string {
  return `${index}-write`;
}

/**
 * Alias of all indices of a namespace that searches do not see and that are not leftovers: of generations being built,
 * or kept.
 */
export function keptAlias(space: string): string {
  return `${space}-kept`;
}
