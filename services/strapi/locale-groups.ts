import { addToList, valueAt } from '../../shared/map-values.ts';

/** Rows of a type that are locales of one document, by their ids in ascending order. */
export type LocaleGroup = { readonly type: string; readonly ids: readonly number[] };

/** Groups of rows. Links name pairs of them. */
export type LocaleGroups = {
  join(type: string, id: number, other: number): void;
  groups(): Generator<LocaleGroup>;
};

/** Creates the groups of one import. Rows of different types are never in one group. */
export function createLocaleGroups(): LocaleGroups {
  const parents = new Map<string, Map<number, number>>();
  const firstOf = (ids: Map<number, number>, id: number): number => {
    let first = id;
    for (let next = ids.get(first); next !== undefined && next !== first; next = ids.get(first)) first = next;
    return first;
  };
  return {
    join(type, id, other) {
      // A link without a row on one side joins nothing.
      if (!Number.isSafeInteger(id) || !Number.isSafeInteger(other)) return;
      const ids = valueAt(parents, type, () => new Map<number, number>());
      const [a, b] = [firstOf(ids, id), firstOf(ids, other)];
      ids.set(Math.max(a, b), Math.min(a, b));
    },
    *groups() {
      for (const [type, parentOf] of parents) {
        const groups = new Map<number, number[]>();
        for (const id of new Set([...parentOf.keys(), ...parentOf.values()]))
          addToList(groups, firstOf(parentOf, id), id);
        for (const ids of groups.values()) yield { type, ids: ids.sort((a, b) => a - b) };
      }
    },
  };
}
