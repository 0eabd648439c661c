import { valueAt } from '../../../map-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { World } from '../../read-index.ts';

/** Names of the indices. They all begin with the namespace, because the cluster may have other users. */
export type IndexNames = {
  /** Returns the name for searches, which is an alias of the live index. */
  alias(type: Uid, world: World): string;
  /** Returns the name of the index itself. Each generation of its layout or contents has a new index. */
  index(type: Uid, world: World, generation: number): string;
};

/** Creates names such as `varve-api_restaurant_restaurant-published` (alias) and `varve-api_restaurant_restaurant-published-7` (index). */
export function createIndexNames(space: string): IndexNames {
  const aliases = { draft: new Map<Uid, string>(), published: new Map<Uid, string>() };
  // The names are cached, because every search needs one.
  const alias = (type: Uid, world: World) =>
    valueAt(aliases[world], type, () => `${space}-${typeSlug(type)}-${world}`);
  return { alias, index: (type, world, generation) => `${alias(type, world)}-${generation}` };
}

/** Returns the world of an alias for searches. */
export function worldOfAlias(alias: string): World {
  return alias.endsWith('-draft') ? 'draft' : 'published';
}

/** Converts `api::restaurant.restaurant` to `api_restaurant_restaurant`, because an index name is in lower case and has no colon. */
export function typeSlug(type: Uid): string {
  return type.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
}

/**
 * Returns the name for writes. It is an alias that the index has from its creation, and that no other index ever has. A request that
 * requires an alias does not create an index that was removed.
 */
export function writeAlias(index: string): string {
  return `${index}-write`;
}

/**
 * Returns the alias of all indices of a namespace that searches do not use and that are not leftovers. They belong to generations that are
 * being built or kept.
 */
export function keptAlias(space: string): string {
  return `${space}-kept`;
}

/** Returns the alias of the indices that a data directory is building, or that served before its switch. */
export function setAlias(space: string, state: 'building' | 'previous', directory: string): string {
  return `${space}-${state}-${directory}`;
}

/** Returns the alias of indices that are about to be deleted. No process uses them any more. */
export function droppedAlias(space: string): string {
  return `${space}-dropped`;
}
