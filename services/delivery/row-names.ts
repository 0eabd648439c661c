import type { RowTags } from './collected-tags.ts';
import type { Tag } from './tag.ts';

/** Calls `add` with the name of each row's tag, until it returns false. Returns false then. */
export type RowNames = (rows: RowTags, add: (name: number) => boolean) => boolean;

/** Numbers of an entry: its row's buffer, the offset there, and the name. */
const PARTS = 3;
const FIRST_ENTRIES = 1024;
/** With more rows of a kind, those whose number ends with the same 20 bits take turns. */
const MOST_ENTRIES = 2 ** 20;

/**
 * Remembers the names of the tags of rows that the read index has in memory. The row's number says where, and the position of its
 * bytes says whether it is still the same row: no other bytes are ever written there. A page's names are close to each other then, where
 * an object for each name would be another place to wait for.
 */
export function createRowNames(nameOf: (tag: Tag) => number): RowNames {
  const kinds = new Map<string, { entries: Float64Array }>();
  const numberOf = createBufferNumbers();
  const entriesOf = (key: string, rows: readonly number[]): Float64Array => {
    const known = kinds.get(key) ?? { entries: new Float64Array(FIRST_ENTRIES * PARTS) };
    kinds.set(key, known);
    known.entries = withRoom(known.entries, rows);
    return known.entries;
  };
  return ({ kind, hits: { rows, sources } }, add) => {
    const entries = entriesOf(kind.key, rows);
    const mask = entries.length / PARTS - 1;
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as Uint8Array;
      const buffer = numberOf(source);
      const at = ((rows[i] as number) & mask) * PARTS;
      const isKnown = buffer > 0 && entries[at] === buffer && entries[at + 1] === source.byteOffset;
      const name = isKnown ? (entries[at + 2] as number) : nameOf(kind.tagOf(source));
      if (!isKnown && buffer > 0) {
        entries[at] = buffer;
        entries[at + 1] = source.byteOffset;
        entries[at + 2] = name;
      }
      if (!add(name)) return false;
    }
    return true;
  };
}

/** Returns a number of a row's buffer. 0: the row has it alone, so it was probably read for one answer. */
function createBufferNumbers(): (source: Uint8Array) => number {
  const numbers = new WeakMap<ArrayBufferLike, number>();
  let count = 0;
  let last: ArrayBufferLike | undefined;
  let lastNumber = 0;
  return ({ buffer, length }) => {
    // Another row may begin where an empty one is.
    if (length === 0 || buffer.byteLength === length) return 0;
    if (buffer === last) return lastNumber;
    const number = numbers.get(buffer) ?? ++count;
    numbers.set(buffer, number);
    last = buffer;
    lastNumber = number;
    return number;
  };
}

function withRoom(entries: Float64Array, rows: readonly number[]): Float64Array {
  const size = entries.length / PARTS;
  let most = 0;
  for (const row of rows) if (row > most) most = row;
  if (most < size || size === MOST_ENTRIES) return entries;
  const wanted = 2 ** Math.ceil(Math.log2(most + 1));
  const larger = new Float64Array(Math.min(MOST_ENTRIES, wanted) * PARTS);
  larger.set(entries);
  return larger;
}
