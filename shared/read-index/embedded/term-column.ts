import type { Scalar } from '../bool-query.ts';
import { type Bits, clearBit, growBits, setBit } from './bits.ts';
import {
  type Dictionary,
  extendDictionary,
  growDictionary,
  setTerm,
  setUnfinishedTerm,
  startDictionary,
  termValue,
  type UnfinishedDictionary,
} from './dictionary.ts';

/** A column of texts, JSON texts or 64-bit integers. */
export type TermColumn = {
  /** Returns the text form of a value (see `textForm`). */
  readonly textOf: (value: Scalar) => string;
  present: Bits;
  presentCount: number;
  /** Values by row, until a query needs a dictionary. Most columns are never queried, and loading without a dictionary is fast. */
  plain: (Scalar | null)[];
  dictionary: Dictionary | undefined;
  /** The unfinished dictionary. */
  making: UnfinishedDictionary | undefined;
};

/** Creates a column of NULLs for rows below `capacity`. */
export function createTermColumn(textOf: (value: Scalar) => string, capacity: number): TermColumn {
  return {
    textOf,
    present: growBits(new Int32Array(0), capacity),
    presentCount: 0,
    plain: [],
    dictionary: undefined,
    making: undefined,
  };
}

/** Makes the column long enough for rows below `capacity`, with its dictionary. */
export function growTermColumn(column: TermColumn, capacity: number): void {
  column.present = growBits(column.present, capacity);
  if (column.dictionary !== undefined) growDictionary(column.dictionary, capacity);
  if (column.making !== undefined) growDictionary(column.making.dictionary, capacity);
}

/** Sets a row's value; `rows` is the number of rows in the row set. Returns false if the value is unchanged. */
export function setTermValue(column: TermColumn, row: number, value: Scalar | null, rows: number): boolean {
  const old = valueInTermColumn(column, row);
  if (old === value) return false;
  if (column.dictionary !== undefined) setTerm(column.dictionary, row, value, rows);
  else setPlain(column, row, value, rows);
  if (value === null) {
    clearBit(column.present, row);
    column.presentCount--;
  } else if (old === null) {
    setBit(column.present, row);
    column.presentCount++;
  }
  return true;
}

/** Returns the value of a row; null if it is NULL. */
export function valueInTermColumn(column: TermColumn, row: number): Scalar | null {
  return column.dictionary === undefined ? (column.plain[row] ?? null) : termValue(column.dictionary, row);
}

/**
 * Returns the dictionary of the column, which is built at first use. If a call ends with its slice, the next call continues. Rows may
 * change in between.
 */
export function dictionaryOf(column: TermColumn, rows: number): Dictionary {
  return column.dictionary ?? makeDictionary(column, rows);
}

function makeDictionary(column: TermColumn, rows: number): Dictionary {
  column.making ??= startDictionary(column.textOf, column.present.length * 32);
  const { making, plain } = column;
  extendDictionary(making, plain.length, (row) => plain[row] ?? null, rows);
  takeDictionary(column, making.dictionary);
  return making.dictionary;
}

/** Replaces the column's values by a dictionary. */
export function takeDictionary(column: TermColumn, dictionary: Dictionary): void {
  column.plain = [];
  column.dictionary = dictionary;
  column.making = undefined;
}

function setPlain({ plain, making }: TermColumn, row: number, value: Scalar | null, rows: number): void {
  // Rows come in ascending order, except for reused ordinals. So the array has no holes and stays fast.
  for (let at = plain.length; at < row; at++) plain.push(null);
  plain[row] = value;
  if (making !== undefined) setUnfinishedTerm(making, row, value, rows);
}
