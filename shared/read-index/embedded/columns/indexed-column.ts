import { assertNever } from '../../../assert-never.ts';
import type { ScalarType } from '../../../schema/content-type.ts';
import { PUBLICATION_STATE_FIELD, PUBLICATION_STATES, type Scalar } from '../../bool-query.ts';
import { fieldTypeOf, textForm } from '../../column.ts';
import type { SortValue } from '../../sort-value.ts';
import { createWatchers, notifyWatchers, type Watchers } from '../lists/watchers.ts';
import {
  createNumberColumn,
  growNumberColumn,
  type NumberColumn,
  setNumber,
  valueInNumberColumn,
} from './number-column.ts';
import {
  createTermColumn,
  growTermColumn,
  setTermValue,
  type TermColumn,
  valueInTermColumn,
} from './term-column.ts';

/** Column of a row set: the values of one field. */
export type IndexedColumn = {
  readonly field: string;
  readonly store:
    | { readonly kind: 'terms'; readonly column: TermColumn }
    | { readonly kind: 'numbers'; readonly column: NumberColumn };
  /** Called with the row after its value changed. */
  readonly watchers: Watchers;
};

/** Creates a column of NULLs. Its type decides how values are stored. */
export function createIndexedColumn(field: string, type: ScalarType, capacity: number): IndexedColumn {
  return { field, store: createStore(type, capacity), watchers: createWatchers() };
}

function createStore(type: ScalarType, capacity: number): IndexedColumn['store'] {
  const textOf = (value: Scalar) => textForm(type, value);
  const fieldType = fieldTypeOf(type);
  switch (fieldType) {
    case 'keyword':
    case 'json':
    case 'long':
      return { kind: 'terms', column: createTermColumn(textOf, capacity) };
    case 'boolean':
      return { kind: 'numbers', column: createNumberColumn((value) => textOf(value !== 0), capacity) };
    case 'number':
    case 'time-of-day':
    case 'instant':
      return { kind: 'numbers', column: createNumberColumn(textOf, capacity) };
    default:
      return assertNever(fieldType);
  }
}

/** Makes the column long enough for rows below `capacity`. */
export function growColumn(column: IndexedColumn, capacity: number): void {
  if (column.store.kind === 'terms') growTermColumn(column.store.column, capacity);
  else growNumberColumn(column.store.column, capacity);
}

/** Sets a row's value, and notifies watchers if it changed. `rows` is the number of rows in the row set. */
export function setColumnValue(column: IndexedColumn, row: number, value: Scalar | null, rows: number): void {
  const changed =
    column.store.kind === 'terms'
      ? setTermValue(column.store.column, row, value, rows)
      : setNumber(column.store.column, row, value, rows);
  if (changed) notifyWatchers(column.watchers, row);
}

/** Returns the value of a row that sorts and ranges compare; null if it is NULL. `$publication` has its rank. */
export function sortValue(column: IndexedColumn, row: number): SortValue {
  if (column.store.kind === 'numbers') return valueInNumberColumn(column.store.column, row);
  const value = valueInTermColumn(column.store.column, row);
  if (column.field !== PUBLICATION_STATE_FIELD || value === null) return value;
  return (PUBLICATION_STATES as readonly Scalar[]).indexOf(value);
}
