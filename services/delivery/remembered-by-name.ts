import { valueAt } from '../../shared/map-values.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/**
 * Returns `make` with a memory of all its results. Without the memory each answer would make, hash and compare these texts again. The
 * memory is bounded, because `name` has to come from a content type.
 */
export function rememberedByName<Result>(
  make: (type: Uid, world: World, name: string) => Result,
): (type: Uid, world: World, name?: string) => Result {
  const results = {
    draft: new Map<Uid, Map<string, Result>>(),
    published: new Map<Uid, Map<string, Result>>(),
  };
  return (type, world, name = '') => {
    const known = results[world].get(type)?.get(name);
    if (known !== undefined) return known;
    const ofType = valueAt(results[world], type, () => new Map<string, Result>());
    return valueAt(ofType, name, () => make(type, world, name));
  };
}
