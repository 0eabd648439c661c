import { NOTE_WORDS, type RowNotes } from '../read-index.ts';
import type { RowSetIndex } from './row-set.ts';

const FIRST_ROWS = 1024;

/** Implements `ReadIndex.rowNotes`. */
export function rowNotes({ sources, notes }: RowSetIndex, name: string): RowNotes {
  const list = notes.get(name) ?? { words: new Uint32Array(FIRST_ROWS * NOTE_WORDS) };
  notes.set(name, list);
  return {
    words: () => list.words,
    find(row, source) {
      const at = row * NOTE_WORDS;
      // Behind the end there is undefined.
      return list.words[at + NOTE_WORDS - 1] && sources[row] === source ? at : -1;
    },
    set(row, source, note) {
      // The row may have changed while its answer was made.
      if (sources[row] !== source) return;
      const at = row * NOTE_WORDS;
      if (at >= list.words.length) list.words = withRoom(list.words, at);
      list.words.set(note, at);
    },
  };
}

/** Forgets the notes of a row whose source changes. */
export function forgetNotes({ notes }: RowSetIndex, row: number): void {
  const last = row * NOTE_WORDS + NOTE_WORDS - 1;
  for (const { words } of notes.values()) if (last < words.length) words[last] = 0;
}

function withRoom(words: Uint32Array, at: number): Uint32Array {
  const larger = new Uint32Array(
    FIRST_ROWS * NOTE_WORDS * 2 ** Math.ceil(Math.log2((at + 1) / (FIRST_ROWS * NOTE_WORDS))),
  );
  larger.set(words);
  return larger;
}
