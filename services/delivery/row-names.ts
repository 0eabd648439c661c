import type { RowTags } from './collected-tags.ts';
import type { Tag } from './tag.ts';

/** Adds the names of the tags of rows. */
export type RowNames = (names: Set<string>, rows: RowTags) => void;

/**
 * Remembers the name of a row's tag as long as the read index has the row's bytes in memory. A page of rows then costs a look-up for
 * each, without the text of its tag.
 */
export function createRowNames(nameOf: (tag: Tag) => string): RowNames {
  const kinds = new Map<string, WeakMap<Uint8Array, string>>();
  const knownOf = (key: string): WeakMap<Uint8Array, string> => {
    const known = kinds.get(key);
    if (known !== undefined) return known;
    const made = new WeakMap<Uint8Array, string>();
    kinds.set(key, made);
    return made;
  };
  return (names, { kind, sources }) => {
    const known = knownOf(kind.key);
    for (const source of sources) {
      const before = known.get(source);
      const name = before ?? nameOf(kind.tagOf(source));
      if (before === undefined) known.set(source, name);
      names.add(name);
    }
  };
}
