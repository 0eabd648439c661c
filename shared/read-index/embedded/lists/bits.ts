import { grown } from './grown.ts';

/**
 * Sets of rows as bits in 32-bit words. The words are signed like the results of bit operations, so V8 uses small integers throughout.
 * Loops run over the first operand's length. Sets of one row set may differ in length; missing words are empty.
 */
export type Bits = Int32Array;

/** Returns the number of 32-bit words for rows 0 to `rows - 1`. */
export function wordsFor(rows: number): number {
  return (rows + 31) >>> 5;
}

/** Adds a row. A row beyond the last word has no effect (see `growBits`). */
export function setBit(bits: Bits, row: number): void {
  bits[row >>> 5] = (bits[row >>> 5] as number) | (1 << (row & 31));
}

/** Sets the bits of `rows[from]` to `rows[to - 1]`. */
export function setBits(bits: Bits, rows: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const row = rows[i] as number;
    bits[row >>> 5] = (bits[row >>> 5] as number) | (1 << (row & 31));
  }
}

/** Removes a row, which must be below the set's length. */
export function clearBit(bits: Bits, row: number): void {
  bits[row >>> 5] = (bits[row >>> 5] as number) & ~(1 << (row & 31));
}

/** Returns whether a row is in the set. False beyond its last word. */
export function hasBit(bits: Bits, row: number): boolean {
  return ((bits[row >>> 5] as number) & (1 << (row & 31))) !== 0;
}

/** Computes `into |= from`. */
export function orBits(into: Bits, from: Bits): void {
  const length = Math.min(into.length, from.length);
  for (let i = 0; i < length; i++) into[i] = (into[i] as number) | (from[i] as number);
}

/** Computes `into &= from`. */
export function andBits(into: Bits, from: Bits): void {
  const length = Math.min(into.length, from.length);
  for (let i = 0; i < length; i++) into[i] = (into[i] as number) & (from[i] as number);
  if (length < into.length) into.fill(0, length);
}

/** Computes `into &= ~from`. */
export function andNotBits(into: Bits, from: Bits): void {
  const length = Math.min(into.length, from.length);
  for (let i = 0; i < length; i++) into[i] = (into[i] as number) & ~(from[i] as number);
}

function countWord(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Returns the number of rows in the set. */
export function countBits(bits: Bits): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) count += countWord(bits[i] as number);
  return count;
}

/** Returns the number of rows in both sets. */
export function countCommonBits(a: Bits, b: Bits): number {
  let count = 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) count += countWord((a[i] as number) & (b[i] as number));
  return count;
}

/** Returns at most `size` rows in ascending order, after skipping `from` rows. */
export function selectRows(bits: Bits, from: number, size: number): number[] {
  const rows: number[] = [];
  let skip = from;
  for (let i = 0; i < bits.length && rows.length < size; i++) {
    let word = bits[i] as number;
    if (word === 0) continue;
    if (skip > 0) {
      const count = countWord(word);
      if (count <= skip) {
        skip -= count;
        continue;
      }
      for (; skip > 0; skip--) word &= word - 1;
    }
    for (; word !== 0 && rows.length < size; word &= word - 1) {
      rows.push((i << 5) + 31 - Math.clz32(word & -word));
    }
  }
  return rows;
}

/** Number of words that are decoded together. Their rows are few enough to process between two checks of the clock. */
export const STRETCH = 1024;

/** Result buffer of `decodeRows`. Read it before the next call. */
const decoded = { rows: new Int32Array(STRETCH * 32), count: 0 };

/**
 * Returns the rows of some words from `first` on, in ascending order, in a buffer that the next call overwrites. This is faster than a loop
 * in which the caller works between two bits.
 */
export function decodeRows(bits: Bits, first: number): { readonly rows: Int32Array; readonly count: number } {
  const { rows } = decoded;
  const end = Math.min(bits.length, first + STRETCH);
  let count = 0;
  for (let i = first; i < end; i++) {
    const last = (i << 5) + 31;
    for (let word = bits[i] as number; word !== 0; word &= word - 1) {
      rows[count++] = last - Math.clz32(word & -word);
    }
  }
  decoded.count = count;
  return decoded;
}

/** Returns a copy with space for more rows. */
export function growBits(bits: Bits, rows: number): Bits {
  return grown(bits, new Int32Array(wordsFor(rows)));
}
