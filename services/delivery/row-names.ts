import type { ReadIndex, RowNumbers } from '../../shared/read-index/read-index.ts';
import type { RowTags } from './collected-tags.ts';
import type { Tag } from './tag.ts';

/** Calls `add` with the name of each row's tag, until it returns false. Returns false then. */
export type RowNames = (rows: RowTags, add: (name: number) => boolean) => boolean;

/** The index whose rows are named. */
export type NamedRows = Pick<ReadIndex, 'rowNumbers'>;

/** Remembers the names of the tags of rows that the read index has in memory, while they do not change. */
export function createRowNames({ rowNumbers }: NamedRows, nameOf: (tag: Tag) => number): RowNames {
  const kinds = new Map<string, RowNumbers>();
  const numbersOf = ({ key, type, world }: RowTags['kind']): RowNumbers => {
    const numbers = kinds.get(key) ?? rowNumbers?.(type, world, key) ?? NONE_KNOWN;
    kinds.set(key, numbers);
    return numbers;
  };
  return ({ kind, hits: { rows, sources } }, add) => {
    const numbers = numbersOf(kind);
    for (let i = 0; i < sources.length; i++) {
      const row = rows[i] as number;
      const source = sources[i] as Uint8Array;
      let name = numbers.get(row, source);
      if (name === 0) {
        name = nameOf(kind.tagOf(source));
        numbers.set(row, source, name);
      }
      if (!add(name)) return false;
    }
    return true;
  };
}

/** The rows were read for one answer. */
const NONE_KNOWN: RowNumbers = { get: () => 0, set() {} };
