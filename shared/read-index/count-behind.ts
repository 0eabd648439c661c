import { createSequence } from '../turns/sequence.ts';
import { rest } from '../turns/slice.ts';

/** Lists of numbers. `heads` has the only entry of a list with one entry, or the start of a longer list in `pool`. */
export type EntryLists = {
  readonly counts: Int32Array;
  readonly heads: Int32Array;
  readonly pool: Int32Array;
};

/** A path from rows to values. Rows and values are numbers. */
export type PathToValues = {
  /** Levels of the path, from the counted rows on. `rows`: number of rows. `lists`: linked rows of the next level, by row. */
  readonly levels: readonly { readonly rows: number; readonly lists: EntryLists }[];
  /** Number of rows at the end of the path. */
  readonly ends: number;
  readonly values: number;
  /** Calls `add` for each value of a row at the end of the path. */
  readonly valuesOf: (end: number, add: (value: number) => void) => void;
};

/** Values that each row of one level reaches, as `words` words of bits per row. */
type ValueSets = { readonly words: number; readonly bits: Int32Array; readonly hasAny: Uint8Array };

/** Maximum words of a level's sets. More values are counted in several rounds. */
const MOST_WORDS = 2 ** 22;

/**
 * Counts for each value the rows that reach it. It goes from the values back to the rows. It uses each link once for some hundred values,
 * even if many paths lead through it. If a call ends with its slice, the next call continues.
 */
export function createCountBehind(path: PathToValues, isCounted: (row: number) => boolean): () => Int32Array {
  const counts = new Int32Array(path.values);
  const widest = Math.max(1, path.ends, ...path.levels.map(({ rows }) => rows));
  const words = Math.max(1, Math.min(Math.ceil(path.values / 32), Math.floor(MOST_WORDS / widest)));
  let first = 0;
  let round: (() => void) | undefined;
  return () => {
    for (; first < path.values; first += words * 32) {
      round ??= createRound(path, { first, words }, isCounted, counts);
      round();
      round = undefined;
    }
    return counts;
  };
}

type Round = { readonly first: number; readonly words: number };

/** Counts the values from `first` on that fit into this many words. */
function createRound(
  { levels, ends, valuesOf }: PathToValues,
  { first, words }: Round,
  isCounted: (row: number) => boolean,
  counts: Int32Array,
): () => void {
  let sets = createSets(ends, words);
  const noteValue = (row: number) => (value: number) => {
    const at = value - first;
    if (at >= 0 && at < words * 32) addValue(sets, row, at);
  };
  return createSequence([
    forEachRow(ends, (row) => {
      valuesOf(row, noteValue(row));
      return 1;
    }),
    ...levels.toReversed().map(({ rows, lists }) => {
      let above: ValueSets | undefined;
      const pass = forEachRow(rows, (row) => {
        above ??= createSets(rows, words);
        return unite(lists, row, sets, above);
      });
      return () => {
        pass();
        sets = above ?? createSets(rows, words);
      };
    }),
    forEachRow(levels[0]?.rows ?? ends, (row) =>
      isCounted(row) ? countValues(sets, row, first, counts) : 1,
    ),
  ]);
}

/** Calls `work` for each row, in slices. `work` returns the number of its steps. */
function forEachRow(rows: number, work: (row: number) => number): () => void {
  let row = 0;
  return () => {
    while (row < rows) rest(work(row++));
  };
}

function createSets(rows: number, words: number): ValueSets {
  return { words, bits: new Int32Array(rows * words), hasAny: new Uint8Array(rows) };
}

function addValue({ words, bits, hasAny }: ValueSets, row: number, value: number): void {
  const word = row * words + (value >>> 5);
  bits[word] = (bits[word] as number) | (1 << (value & 31));
  hasAny[row] = 1;
}

/** Adds to the set of a row the sets of the rows in its list. */
function unite({ counts, heads, pool }: EntryLists, row: number, below: ValueSets, above: ValueSets): number {
  const count = row < counts.length ? (counts[row] as number) : 0;
  const { words } = below;
  let steps = 1 + count;
  for (let index = 0; index < count; index++) {
    const head = heads[row] as number;
    const linked = count === 1 ? head : (pool[head + index] as number);
    if (linked >= below.hasAny.length || below.hasAny[linked] === 0) continue;
    above.hasAny[row] = 1;
    const [from, into] = [linked * words, row * words];
    for (let word = 0; word < words; word++)
      above.bits[into + word] = (above.bits[into + word] as number) | (below.bits[from + word] as number);
    steps += words;
  }
  return steps;
}

function countValues(
  { words, bits, hasAny }: ValueSets,
  row: number,
  first: number,
  counts: Int32Array,
): number {
  if (hasAny[row] === 0) return 1;
  for (let at = 0; at < words; at++) {
    const base = first + at * 32 + 31;
    for (let word = bits[row * words + at] as number; word !== 0; word &= word - 1) {
      const value = base - Math.clz32(word & -word);
      counts[value] = (counts[value] as number) + 1;
    }
  }
  return words;
}
