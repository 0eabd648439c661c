import type { Scalar } from '../../bool-query.ts';
import { type Bits, clearBit, growBits, setBit } from '../lists/bits.ts';
import {
  addRows,
  createDictionary,
  type Dictionary,
  growDictionary,
  setTerm,
  termValue,
} from './dictionary.ts';

/** A column of texts, JSON texts or 64-bit integers. */
export type TermColumn = {
  /** Returns the text form of a value (see `textForm`). */
  readonly textOf: (value: Scalar) => string;
  present: Bits;
  presentCount: number;
  /** Values by row, until the dictionary has them. Most columns are never queried, and loading without a dictionary is fast. */
  plain: (Scalar | null)[] | undefined;
  /** Dictionary of the values; undefined until a query needs it. */
  dictionary: Dictionary | undefined;
};

/** Creates a column of NULLs for rows below `capacity`. */
export function createTermColumn(textOf: (value: Scalar) => string, capacity: number): TermColumn {
  return {
    textOf,
    present: growBits(new Int32Array(0), capacity),
    presentCount: 0,
    plain: [],
    dictionary: undefined,
  };
}

/** Makes the column long enough for rows below `capacity`, with its dictionary. */
export function growTermColumn(column: TermColumn, capacity: number): void {
  column.present = growBits(column.present, capacity);
  if (column.dictionary !== undefined) growDictionary(column.dictionary, capacity);
}

/** Sets a row's value; `rows` is the number of rows in the row set. Returns false if the value is unchanged. */
export function setTermValue(column: TermColumn, row: number, value: Scalar | null, rows: number): boolean {
  const old = valueInTermColumn(column, row);
  if (old === value) return false;
  if (column.plain !== undefined) setPlain(column.plain, row, value);
  if (column.dictionary !== undefined) setTerm(column.dictionary, row, value, rows);
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
export function valueInTermColumn({ plain, dictionary }: TermColumn, row: number): Scalar | null {
  return plain === undefined ? termValue(dictionary as Dictionary, row) : (plain[row] ?? null);
}

/**
 * Returns the dictionary of the column, which is built at first use. If a call ends with its slice, the next call continues. Rows may
 * change in between.
 */
export function dictionaryOf(column: TermColumn, rows: number): Dictionary {
  column.dictionary ??= createDictionary(column.textOf, column.present.length * 32);
  const { plain, dictionary } = column;
  if (plain !== undefined) addRows(dictionary, rows, (row) => plain[row] ?? null);
  column.plain = undefined;
  return dictionary;
}

function setPlain(plain: (Scalar | null)[], row: number, value: Scalar | null): void {
  // Rows come in ascending order, except for reused ordinals. So the array has no holes and stays fast.
  for (let at = plain.length; at < row; at++) plain.push(null);
  plain[row] = value;
}
