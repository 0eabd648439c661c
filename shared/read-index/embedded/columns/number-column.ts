import type { Scalar } from '../../bool-query.ts';
import { type Bits, clearBit, growBits, setBit } from '../lists/bits.ts';
import { grown } from '../lists/grown.ts';
import {
  addRows,
  createDictionary,
  type Dictionary,
  distinctTerms,
  growDictionary,
  setTerm,
} from './dictionary.ts';

/** A column of doubles: numbers, booleans (0 and 1), dates and times in milliseconds. */
export type NumberColumn = {
  /** Returns the text form of a stored number (see `textForm`). */
  readonly textOf: (value: number) => string;
  /** Value by row; NaN = NULL. */
  values: Float64Array;
  present: Bits;
  presentCount: number;
  /** Distinct values with their rows, if they are few; undefined until a query needs them. */
  few: Dictionary | 'many' | undefined;
  /** Text forms; undefined until a text operator is used. */
  texts: Dictionary | undefined;
};

/** Maximum number of distinct values with postings, which otherwise cost too much. With more values, a range comes from the sorted rows. */
const FEW_VALUES = 256;

/** Creates a column of NULLs for rows below `capacity`. */
export function createNumberColumn(textOf: (value: number) => string, capacity: number): NumberColumn {
  return {
    textOf,
    values: new Float64Array(capacity).fill(Number.NaN),
    present: growBits(new Int32Array(0), capacity),
    presentCount: 0,
    few: undefined,
    texts: undefined,
  };
}

/** Makes the column long enough for rows below `capacity`, with its dictionaries. */
export function growNumberColumn(column: NumberColumn, capacity: number): void {
  const { values } = column;
  column.values = grown(values, new Float64Array(capacity).fill(Number.NaN, values.length));
  column.present = growBits(column.present, capacity);
  if (typeof column.few === 'object') growDictionary(column.few, capacity);
  if (column.texts !== undefined) growDictionary(column.texts, capacity);
}

/** Returns the value of a row; null if it is NULL. */
export function valueInNumberColumn({ values }: NumberColumn, row: number): number | null {
  const value = values[row] as number;
  return Number.isNaN(value) ? null : value;
}

/** Sets a row's value; `rows` is the number of rows in the row set. Returns false if the value is unchanged. */
export function setNumber(column: NumberColumn, row: number, scalar: Scalar | null, rows: number): boolean {
  const value = scalar === null ? Number.NaN : Number(scalar);
  const old = column.values[row] as number;
  if (Object.is(old, value)) return false;
  column.values[row] = value;
  const isNull = Number.isNaN(value);
  if (isNull) {
    clearBit(column.present, row);
    column.presentCount--;
  } else if (Number.isNaN(old)) {
    setBit(column.present, row);
    column.presentCount++;
  }
  if (typeof column.few === 'object') {
    setTerm(column.few, row, isNull ? null : value, rows);
    if (distinctTerms(column.few) > FEW_VALUES) column.few = 'many';
  }
  if (column.texts !== undefined) setTerm(column.texts, row, isNull ? null : column.textOf(value), rows);
  return true;
}

/**
 * Returns the distinct values with their rows; undefined if there are many. They are built at first use. If a call ends with its slice, the
 * next call continues, and rows may change in between.
 */
export function fewValues(column: NumberColumn, rows: number): Dictionary | undefined {
  if (column.few === 'many') return undefined;
  column.few ??= createDictionary(String, column.values.length);
  const { few } = column;
  addRows(few, rows, (row) => valueInNumberColumn(column, row), FEW_VALUES);
  if (distinctTerms(few) <= FEW_VALUES) return few;
  column.few = 'many';
  return undefined;
}

/** Returns the dictionary of the text forms. It is built like that of `fewValues`. */
export function textForms(column: NumberColumn, rows: number): Dictionary {
  column.texts ??= createDictionary(String, column.values.length);
  const textAt = (row: number) => {
    const value = valueInNumberColumn(column, row);
    return value === null ? null : column.textOf(value);
  };
  addRows(column.texts, rows, textAt);
  return column.texts;
}
