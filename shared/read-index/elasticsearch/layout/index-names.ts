import type { Uid } from '../../../schema/content-type.ts';
import type { World } from '../../read-index.ts';

/** Names of the indices in a cluster that others use as well: they all begin with the space. */
export type IndexNames = {
  /** What is searched: an alias of the index that is live. */
  alias(type: Uid, world: World): string;
  /** The index itself: a new one for every generation of its layout or contents. */
  index(type: Uid, world: World, generation: number): string;
};

export function createIndexNames(space: string): IndexNames {
  const aliases = { draft: new Map<Uid, string>(), published: new Map<Uid, string>() };
  // Every search needs one.
  const alias = (type: Uid, world: World) => {
    const known = aliases[world].get(type);
    if (known !== undefined) return known;
    const made = `${space}-${typeSlug(type)}-${world}`;
    aliases[world].set(type, made);
    return made;
  };
  return { alias, index: (type, world, generation) => `${alias(type, world)}-${generation}` };
}

/** `api::restaurant.restaurant` → `api_restaurant_restaurant`: an index name is in lower case and has no colon. */
export function typeSlug(type: Uid): string {
  return type.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
}

/**
 * What an index is written through: an alias that it has from its first moment and no other ever has. A request that needs an alias
 * makes no index where one was taken away.
 */
export function writeAlias(index: string): string {
  return `${index}-write`;
}

/** On all indices of a space that searches do not see and that are no leftovers: of generations being made, or kept. */
export function keptAlias(space: string): string {
  return `${space}-kept`;
}
