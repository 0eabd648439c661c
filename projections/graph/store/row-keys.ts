import type { RowVersion, World } from '../../../shared/read-index/read-index.ts';

/** Position in `WORLDS`. */
export type WorldNumber = 0 | 1;

export const VERSIONS = ['draft', 'published', 'live'] as const satisfies readonly RowVersion[];
/** Position in `VERSIONS`. */
export type VersionNumber = 0 | 1 | 2;
export const DRAFT = 0;
export const PUBLISHED = 1;
/** Version of the rows of types without draft & publish; imports and events call it `live`. */
export const UNVERSIONED = 2;

/** Returns the key of a row from its entry and version. Keys are unique, and the same in every replay. */
export function rowKey(entry: number, version: VersionNumber): number {
  return entry * 4 + version;
}

/** Returns the number of the entry that a row belongs to. */
export function entryOfKey(key: number): number {
  return Math.floor(key / 4);
}

/** Returns the version of a row by its key. The row need not exist. */
export function versionOfKey(key: number): VersionNumber {
  return (key % 4) as VersionNumber;
}

/** Key that a type's row has in a world, whether or not it exists. */
export function rowKeyIn(world: WorldNumber, draftAndPublish: boolean, entry: number): number {
  return rowKey(entry, draftAndPublish ? world : UNVERSIONED);
}

export const BOTH_WORLDS: readonly WorldNumber[] = [0, 1];
const ONE_WORLD: readonly (readonly WorldNumber[])[] = [[0], [1]];

/** Returns the number of a world. */
export function worldNumber(world: World): WorldNumber {
  return world === 'draft' ? 0 : 1;
}

/** Returns the number of a version in keys. */
export function versionNumber(version: RowVersion): VersionNumber {
  return VERSIONS.indexOf(version) as VersionNumber;
}

/** The worlds a row of this version belongs to. */
export function worldsOf(version: VersionNumber): readonly WorldNumber[] {
  return ONE_WORLD[version] ?? BOTH_WORLDS;
}

/** Existing rows: one bit per row key, so that a link's ends are checked without a read. */
export type ExistingRows = ReturnType<typeof createExistingRows>;

/**
 * Creates an empty set. It takes an eighth of a byte for each possible key up to the highest one. It also counts the rows of each type, by
 * the type's number.
 */
export function createExistingRows() {
  let words = new Uint32Array(1024);
  const has = (key: number): boolean => ((words[key >>> 5] ?? 0) & (1 << (key & 31))) !== 0;
  /** Numbers of rows, by type and version. */
  const counts: number[] = [];
  const count = (type: number, key: number, by: number) => {
    const of = rowKey(type, versionOfKey(key));
    counts[of] = (counts[of] ?? 0) + by;
  };
  return {
    has,
    add(key: number, type: number): void {
      if (has(key)) return;
      count(type, key, 1);
      const word = key >>> 5;
      if (word >= words.length) {
        const grown = new Uint32Array(Math.max(word + 1, words.length * 2));
        grown.set(words);
        words = grown;
      }
      words[word] = (words[word] ?? 0) | (1 << (key & 31));
    },
    delete(key: number, type: number): void {
      if (!has(key)) return;
      count(type, key, -1);
      const word = key >>> 5;
      words[word] = (words[word] ?? 0) & ~(1 << (key & 31));
    },
    count: (): number => counts.reduce((sum, each) => sum + each, 0),
    /** Returns the number of a type's rows in a world. */
    countIn: (type: number, world: WorldNumber): number =>
      (counts[rowKey(type, world)] ?? 0) + (counts[rowKey(type, UNVERSIONED)] ?? 0),
  };
}
