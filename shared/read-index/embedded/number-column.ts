import type { Scalar } from '../bool-query.ts';
import { type Bits, clearBit, growBits, setBit } from './bits.ts';
import { createDictionary, type Dictionary, distinctTerms, growDictionary, setTerm } from './dictionary.ts';

/** A column of doubles: numbers, booleans (0 and 1), dates and times in milliseconds. */
export type NumberColumn = {
  /** The text form of a stored number, see `textForm`. */
  readonly textOf: (value: number) => string;
  /** By row; NaN = NULL. */
  values: Float64Array;
  present: Bits;
  presentCount: number;
  /** The distinct values with their rows, once a query asked and while they are few. */
  few: Dictionary | 'unknown' | 'many';
  /** The text forms, once a text operator was used. */
  texts: Dictionary | undefined;
};

/** With more distinct values postings no longer pay: a range is a stretch of the sorted rows then. */
export const FEW_VALUES = 256;

export function createNumberColumn(textOf: (value: number) => string, capacity: number): NumberColumn {
  return {
    textOf,
    values: new Float64Array(capacity).fill(Number.NaN),
    present: growBits(new Int32Array(0), capacity),
    presentCount: 0,
    few: 'unknown',
    texts: undefined,
  };
}

export function growNumberColumn(column: NumberColumn, capacity: number): void {
  const values = new Float64Array(capacity).fill(Number.NaN, column.values.length);
  values.set(column.values);
  column.values = values;
  column.present = growBits(column.present, capacity);
  if (typeof column.few === 'object') growDictionary(column.few, capacity);
  if (column.texts !== undefined) growDictionary(column.texts, capacity);
}

export function valueInNumberColumn({ values }: NumberColumn, row: number): number | null {
  const value = values[row] as number;
  return Number.isNaN(value) ? null : value;
}

/** Sets a row's value; `rows` is the number of rows in the space. False when it was that value already. */
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

/** The distinct values with their rows; undefined when there are many. */
export function fewValues(column: NumberColumn, rows: number): Dictionary | undefined {
  if (column.few === 'unknown') {
    const dictionary = createDictionary(String, column.values.length);
    column.few = dictionary;
    for (let row = 0; row < rows && distinctTerms(dictionary) <= FEW_VALUES; row++) {
      const value = column.values[row] as number;
      if (!Number.isNaN(value)) setTerm(dictionary, row, value, rows);
    }
    if (distinctTerms(dictionary) > FEW_VALUES) column.few = 'many';
  }
  return column.few === 'many' ? undefined : column.few;
}

/** The dictionary of the text forms, made at first use. */
export function textForms(column: NumberColumn, rows: number): Dictionary {
  if (column.texts !== undefined) return column.texts;
  const texts = createDictionary(String, column.values.length);
  for (let row = 0; row < rows; row++) {
    const value = column.values[row] as number;
    if (!Number.isNaN(value)) setTerm(texts, row, column.textOf(value), rows);
  }
  column.texts = texts;
  return texts;
}
