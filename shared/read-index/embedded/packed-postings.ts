import { type Bits, countBits, decodeRows, STRETCH, setBit, wordsFor } from './bits.ts';
import { isDense, type Postings } from './postings.ts';
import { createPackedLists } from './row-lists.ts';

/** Postings in a few arrays, in the form of a file of words. A row is named by its place in the file. */
export type PackedPostings = {
  /** Number of places in `entries`, by word; 0 if the word's places are bits. */
  readonly counts: Int32Array;
  /** Places of the first word, then those of the next word, and so on. */
  readonly entries: Int32Array;
  /** Words whose places are bits. */
  readonly denseWords: Int32Array;
  readonly denseCounts: Int32Array;
  /** Places of the first of these words as bits, then of the next word. Each word takes the same number of elements. */
  readonly bits: Int32Array;
};

/** Number of places between two pauses. */
const ENTRIES_AT_ONCE = 2 ** 14;

/** Creates postings of words with these numbers of places. The caller then sets each place once, in order. */
export function createPackedPostings(
  rows: Int32Array,
  places: number,
): { readonly packed: PackedPostings; readonly set: (word: number, place: number) => void } {
  const counts = rows.map((count) => (isDense(count, places) ? 0 : count));
  const denseWords = rows.map((_, word) => word).filter((word) => isDense(rows[word] as number, places));
  const bitsEach = wordsFor(places);
  const bits = new Int32Array(denseWords.length * bitsEach);
  /** Index of the word's next place, by word; or -1 minus the index of its bits. */
  const next = new Int32Array(rows.length);
  let length = 0;
  for (const [word, count] of counts.entries()) {
    next[word] = length;
    length += count;
  }
  const entries = new Int32Array(length);
  for (const [at, word] of denseWords.entries()) next[word] = -1 - at * bitsEach;
  const denseCounts = denseWords.map((word) => rows[word] as number);
  const set = (word: number, place: number) => {
    const at = next[word] as number;
    if (at < 0) {
      const number = -1 - at + (place >>> 5);
      bits[number] = (bits[number] as number) | (1 << (place & 31));
    } else {
      entries[at] = place;
      next[word] = at + 1;
    }
  };
  return { packed: { counts, entries, denseWords, denseCounts, bits }, set };
}

/** Returns the postings in the form for searches, with the same arrays. This requires that places equal rows. */
export function unpackPostings({ counts, entries, denseWords, denseCounts, bits }: PackedPostings): Postings {
  const dense: Postings['dense'] = [];
  const length = bits.length / denseWords.length;
  for (const [at, word] of denseWords.entries())
    dense[word] = { bits: bits.subarray(at * length, (at + 1) * length), count: denseCounts[at] as number };
  return { lists: createPackedLists(counts, entries), dense };
}

/** Replaces places by their rows, which are below `size`, in steps. Omits places whose row is negative. */
export function* placeRows(
  packed: PackedPostings,
  rows: Int32Array,
  size: number,
): Generator<void, PackedPostings, void> {
  const { counts, entries, denseWords, bits } = packed;
  let [from, to, next] = [0, 0, ENTRIES_AT_ONCE];
  for (let word = 0; word < counts.length; word++) {
    const start = to;
    for (const end = from + (counts[word] as number); from < end; from++) {
      const row = rows[entries[from] as number] as number;
      if (row >= 0) entries[to++] = row;
    }
    counts[word] = to - start;
    if (from < next) continue;
    next = from + ENTRIES_AT_ONCE;
    yield;
  }
  const length = wordsFor(size);
  const placed = new Int32Array(denseWords.length * length);
  const before = bits.length / denseWords.length;
  const denseCounts = new Int32Array(denseWords.length);
  for (let at = 0; at < denseWords.length; at++) {
    const into = placed.subarray(at * length, (at + 1) * length);
    yield* placeBits(bits.subarray(at * before, (at + 1) * before), rows, into);
    denseCounts[at] = countBits(into);
  }
  return { counts, entries: entries.subarray(0, to), denseWords, denseCounts, bits: placed };
}

function* placeBits(bits: Bits, rows: Int32Array, into: Bits): Generator<void, void, void> {
  for (let first = 0; first < bits.length; first += STRETCH) {
    const { rows: places, count } = decodeRows(bits, first);
    for (let at = 0; at < count; at++) {
      const row = rows[places[at] as number] as number;
      if (row >= 0) setBit(into, row);
    }
    yield;
  }
}
