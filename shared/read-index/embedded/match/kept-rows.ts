import {
  type Bits,
  clearBit,
  countBits,
  growBits,
  hasBit,
  orBits,
  selectRows,
  setBit,
  setBits,
  wordsFor,
} from '../lists/bits.ts';
import { ROW_COST, WORD_COST } from '../lists/costs.ts';
import type { Matcher } from './matcher.ts';

/** A set of rows: bits, or the ascending rows if these take less space. */
export type KeptRows =
  | { readonly kind: 'bits'; readonly bits: Bits; readonly count: number }
  | { readonly kind: 'list'; readonly list: Int32Array; readonly count: number };

/** Nanoseconds to find a row in a list. */
const SEARCH_COST = 12;

/** Returns the set of these rows. The caller must no longer change the bits. */
export function keepRows(bits: Bits): KeptRows {
  const count = countBits(bits);
  if (count >= bits.length) return { kind: 'bits', bits, count };
  return { kind: 'list', list: Int32Array.from(selectRows(bits, 0, count)), count };
}

/** Returns the bytes of a set. */
export function bytesOfRows(rows: KeptRows): number {
  return rows.kind === 'bits' ? rows.bits.byteLength : rows.list.byteLength;
}

/** Returns the set after each of `affected` was tested again. `size`: number of ordinals. Bits are changed in place. */
export function testAgain(
  rows: KeptRows,
  affected: Iterable<number>,
  test: (row: number) => boolean,
  size: number,
): KeptRows {
  const has = finderOf(rows);
  const changed = [...affected].filter((row) => test(row) !== has(row));
  if (changed.length === 0) return rows;
  const bits = bitsFor(rows, size);
  for (const row of changed) has(row) ? clearBit(bits, row) : setBit(bits, row);
  return keepRows(bits);
}

/** Matches the rows of a set. */
export function matchKept(rows: KeptRows): Matcher {
  const { count } = rows;
  const test = finderOf(rows);
  if (rows.kind === 'bits') {
    const { bits } = rows;
    const cost = bits.length * WORD_COST;
    return {
      estimate: count,
      isExact: true,
      cost,
      testCost: 2,
      collect: (into) => orBits(into, bits),
      test,
      bits,
    };
  }
  const { list } = rows;
  return {
    estimate: count,
    isExact: true,
    cost: count * ROW_COST,
    testCost: SEARCH_COST,
    collect: (into) => setBits(into, list, 0, count),
    test,
    few: () => list,
  };
}

function finderOf(rows: KeptRows): (row: number) => boolean {
  return rows.kind === 'bits' ? (row) => hasBit(rows.bits, row) : (row) => hasRow(rows.list, row);
}

function hasRow(list: Int32Array, row: number): boolean {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < row) low = middle + 1;
    else high = middle;
  }
  return list[low] === row;
}

function bitsFor(rows: KeptRows, size: number): Bits {
  if (rows.kind === 'bits')
    return rows.bits.length >= wordsFor(size) ? rows.bits : growBits(rows.bits, Math.ceil(size * GROWTH));
  const bits = new Int32Array(wordsFor(size));
  setBits(bits, rows.list, 0, rows.count);
  return bits;
}

/** Bits have space for further rows, so that not every new row needs a copy. */
const GROWTH = 1.05;
