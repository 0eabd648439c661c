import { valueAt } from '../../map-values.ts';
import { NOTE_WORDS, type RowNotes } from '../read-index.ts';
import { grown } from './grown.ts';
import type { RowSetIndex } from './row-set.ts';

const FIRST_ROWS = 1024;

/** Implements `LocalRows.rowNotes`. */
export function rowNotes({ sources, notes }: RowSetIndex, name: string): RowNotes {
  const list = valueAt(notes, name, () => ({ words: new Uint32Array(FIRST_ROWS * NOTE_WORDS) }));
  return {
    words: () => list.words,
    find(row, source) {
      const at = row * NOTE_WORDS;
      // Beyond the end of the array this is undefined.
      return list.words[at + NOTE_WORDS - 1] && sources[row] === source ? at : -1;
    },
    set(row, source, note) {
      // The row may have changed while the note was made.
      if (sources[row] !== source) return;
      const at = row * NOTE_WORDS;
      if (at >= list.words.length) {
        const rows = 2 ** Math.ceil(Math.log2(row + 1));
        list.words = grown(list.words, new Uint32Array(rows * NOTE_WORDS));
      }
      list.words.set(note, at);
    },
  };
}

/** Forgets the notes of a row whose source changes. */
export function forgetNotes({ notes }: RowSetIndex, row: number): void {
  const last = row * NOTE_WORDS + NOTE_WORDS - 1;
  for (const { words } of notes.values()) if (last < words.length) words[last] = 0;
}
