import type { ReadIndex, RowNotes } from '../../shared/read-index/read-index.ts';
import type { RowTags } from './collected-tags.ts';
import type { NameHeader } from './name-header.ts';
import { NAME_WORDS, type PackedNames } from './packed-names.ts';

/** Calls `add` with the packed name of each row's tag. Stops and returns false when `add` does. */
export type RowNames = (rows: RowTags, add: NameHeader['add']) => boolean;

/** The index whose rows are named. */
export type NamedRows = Pick<ReadIndex, 'local'>;

type Names = Pick<PackedNames, 'words' | 'placeOf'>;

/** Creates the names of rows. Remembers those of rows that the read index has in memory, until the row changes. */
export function createRowNames({ local }: NamedRows, names: Names): RowNames {
  const kinds = new Map<string, RowNotes>();
  const notesOf = ({ key, type, world }: RowTags['kind']): RowNotes => {
    const notes = kinds.get(key) ?? local?.rowNotes(type, world, key) ?? NONE_KNOWN;
    kinds.set(key, notes);
    return notes;
  };
  return ({ kind, hits: { rows, sources } }, add) => {
    const notes = notesOf(kind);
    for (let i = 0; i < sources.length; i++) {
      const row = rows[i] as number;
      const source = sources[i] as Uint8Array;
      const at = notes.find(row, source);
      if (at >= 0) {
        if (!add(notes.words(), at)) return false;
        continue;
      }
      const made = names.placeOf(kind.tagOf(source));
      notes.set(row, source, names.words.subarray(made, made + NAME_WORDS));
      if (!add(names.words, made)) return false;
    }
    return true;
  };
}

const NO_WORDS = new Uint32Array(0);
/** Notes for rows that are not in memory: nothing is remembered of them. */
const NONE_KNOWN: RowNotes = { find: () => -1, words: () => NO_WORDS, set() {} };
