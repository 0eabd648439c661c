import type { ScalarType } from '../../schema/content-type.ts';
import type { Scalar } from '../bool-query.ts';
import { columnTypes } from './column-types.ts';
import { createDictionary, type Dictionary, distinctTerms, growDictionary, setTerm } from './dictionary.ts';
import type { IndexedColumn } from './indexed-column.ts';
import { FEW_VALUES, type NumberColumn, valueInNumberColumn } from './number-column.ts';
import type { RowSetIndex } from './row-set.ts';
import { type RowSets, versionRowSets } from './row-sets.ts';
import { inSlices, type Slices } from './slices.ts';
import { type TermColumn, takeDictionary, valueInTermColumn } from './term-column.ts';

/** Types that filters compare for equality. Texts have large dictionaries, which searches build when they need them. */
const WARMED: ReadonlySet<ScalarType> = new Set(['string', 'email', 'uid', 'enumeration', 'biginteger']);

/**
 * Builds the dictionaries for which the first filters on most columns would otherwise wait, in slices. Rows may change in between, and a
 * query may build a dictionary itself.
 */
export async function warmColumns(rowSets: RowSets, slices: Slices): Promise<void> {
  for (const rowSet of versionRowSets(rowSets)) {
    const types = columnTypes(rowSet.model);
    for (const column of rowSet.columns) {
      const type = types.get(column.field);
      const { store } = column;
      if (store.kind === 'numbers') {
        if (!(await warmFewValues(rowSet, column, store.column, slices))) return;
      } else if (type !== undefined && WARMED.has(type)) {
        if (!(await warmTerms(rowSet, column, store.column, slices))) return;
      }
    }
  }
}

/** Builds the dictionary of a column. Returns false if a pause ended it, as warmFewValues does. */
function warmTerms(
  rowSet: RowSetIndex,
  column: IndexedColumn,
  terms: TermColumn,
  slices: Slices,
): Promise<boolean> {
  return warm(rowSet, column, slices, {
    create: () => createDictionary(terms.textOf, capacityOf(column)),
    valueAt: (row) => valueInTermColumn(terms, row),
    isWanted: () => terms.dictionary === undefined,
    take: (dictionary) => takeDictionary(terms, dictionary),
  });
}

/** Builds the distinct values of a column of numbers, if they are few. */
function warmFewValues(
  rowSet: RowSetIndex,
  column: IndexedColumn,
  numbers: NumberColumn,
  slices: Slices,
): Promise<boolean> {
  return warm(rowSet, column, slices, {
    create: () => createDictionary(String, capacityOf(column)),
    valueAt: (row) => valueInNumberColumn(numbers, row),
    isWanted(dictionary) {
      if (numbers.few === 'unknown' && distinctTerms(dictionary) > FEW_VALUES) numbers.few = 'many';
      return numbers.few === 'unknown';
    },
    take(dictionary) {
      numbers.few = dictionary;
    },
  });
}

type Warming = {
  readonly create: () => Dictionary;
  readonly valueAt: (row: number) => Scalar | null;
  /** Returns false if the column already has its dictionary. */
  readonly isWanted: (dictionary: Dictionary) => boolean;
  readonly take: (dictionary: Dictionary) => void;
};

async function warm(
  rowSet: RowSetIndex,
  column: IndexedColumn,
  slices: Slices,
  { create, valueAt, isWanted, take }: Warming,
): Promise<boolean> {
  const dictionary = create();
  let done = 0;
  const grow = () => {
    if (dictionary.terms.length < capacityOf(column)) growDictionary(dictionary, capacityOf(column));
  };
  const set = (row: number) => {
    grow();
    setTerm(dictionary, row, valueAt(row), rowSet.size);
  };
  const setUntil = (end: number) => {
    while (done < end && isWanted(dictionary)) set(done++);
  };
  const setAgain = (row: number) => {
    if (row < done) set(row);
  };
  column.watchers.add(setAgain);
  try {
    const size = () => rowSet.size;
    const work = (row: number) => setUntil(row + 1);
    const isOver = !(await inSlices(size, work, slices, () => isWanted(dictionary)));
    if (!isWanted(dictionary) || rowSet.size === 0) return true;
    if (isOver) return false;
    // This adds rows that were created since the last pause.
    setUntil(rowSet.size);
    if (!isWanted(dictionary)) return true;
    grow();
    take(dictionary);
    return true;
  } finally {
    column.watchers.delete(setAgain);
  }
}

/** Returns the number of rows for which the column has space. */
function capacityOf({ store }: IndexedColumn): number {
  return store.kind === 'numbers' ? store.column.values.length : store.column.present.length * 32;
}
