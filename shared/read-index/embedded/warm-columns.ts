import type { ScalarType } from '../../schema/content-type.ts';
import type { Scalar } from '../bool-query.ts';
import { columnTypes } from './column-types.ts';
import { createDictionary, type Dictionary, distinctTerms, growDictionary, setTerm } from './dictionary.ts';
import type { IndexedColumn } from './indexed-column.ts';
import { FEW_VALUES, type NumberColumn } from './number-column.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { type Spaces, versionSpaces } from './spaces.ts';
import { type TermColumn, takeDictionary, valueInTermColumn } from './term-column.ts';

/** Lets others work; resolves to false when there is no more to be done. */
export type Pause = () => Promise<boolean>;

/** Between two pauses. A request that comes meanwhile waits so long at most. */
const SLICE_MS = 3;
/** Between two looks at the clock. */
const SLICE_ROWS = 128;

/** What is filtered by equality. Texts are searched, if at all; their dictionaries are large and made when one is. */
const WARMED: ReadonlySet<ScalarType> = new Set(['string', 'email', 'uid', 'enumeration', 'biginteger']);

/**
 * Makes the dictionaries that the first filters on most columns would have to wait for, in slices. Rows may change meanwhile, and
 * a query may make a dictionary itself.
 */
export async function warmColumns(spaces: Spaces, pause: Pause, sliceMs = SLICE_MS): Promise<void> {
  const slices = { pause, sliceMs };
  for (const space of versionSpaces(spaces)) {
    const types = columnTypes(space.model);
    for (const column of space.columns) {
      const type = types.get(column.field);
      const { store } = column;
      if (store.kind === 'numbers') {
        if (!(await warmNumbers(space, column, store.column, slices))) return;
      } else if (type !== undefined && WARMED.has(type)) {
        if (!(await warmTerms(space, column, store.column, slices))) return;
      }
    }
  }
}

function warmTerms(
  space: RowSpaceIndex,
  column: IndexedColumn,
  terms: TermColumn,
  slices: Slices,
): Promise<boolean> {
  return warm(space, column, slices, {
    create: () => createDictionary(terms.textOf, capacityOf(column)),
    valueAt: (row) => valueInTermColumn(terms, row),
    isWanted: () => terms.dictionary === undefined,
    take: (dictionary) => takeDictionary(terms, dictionary),
  });
}

function warmNumbers(
  space: RowSpaceIndex,
  column: IndexedColumn,
  numbers: NumberColumn,
  slices: Slices,
): Promise<boolean> {
  return warm(space, column, slices, {
    create: () => createDictionary(String, capacityOf(column)),
    valueAt(row) {
      const value = numbers.values[row] as number;
      return Number.isNaN(value) ? null : value;
    },
    isWanted(dictionary) {
      if (numbers.few === 'unknown' && distinctTerms(dictionary) > FEW_VALUES) numbers.few = 'many';
      return numbers.few === 'unknown';
    },
    take(dictionary) {
      numbers.few = dictionary;
    },
  });
}

type Slices = { readonly pause: Pause; readonly sliceMs: number };

type Warming = {
  readonly create: () => Dictionary;
  readonly valueAt: (row: number) => Scalar | null;
  /** False once the column has what it needs. */
  readonly isWanted: (dictionary: Dictionary) => boolean;
  readonly take: (dictionary: Dictionary) => void;
};

/** False when a pause said so. */
async function warm(
  space: RowSpaceIndex,
  column: IndexedColumn,
  { pause, sliceMs }: Slices,
  { create, valueAt, isWanted, take }: Warming,
): Promise<boolean> {
  const dictionary = create();
  let done = 0;
  const grow = () => {
    if (dictionary.terms.length < capacityOf(column)) growDictionary(dictionary, capacityOf(column));
  };
  const set = (row: number) => {
    grow();
    setTerm(dictionary, row, valueAt(row), space.size);
  };
  const setAgain = (row: number) => {
    if (row < done) set(row);
  };
  column.watchers.add(setAgain);
  try {
    while (isWanted(dictionary) && done < space.size) {
      const end = performance.now() + sliceMs;
      do {
        const stop = Math.min(done + SLICE_ROWS, space.size);
        while (done < stop) set(done++);
      } while (done < space.size && isWanted(dictionary) && performance.now() < end);
      if (!(await pause())) return false;
    }
    if (!isWanted(dictionary) || space.size === 0) return true;
    grow();
    take(dictionary);
    return true;
  } finally {
    column.watchers.delete(setAgain);
  }
}

/** Rows that the column has room for. */
function capacityOf({ store }: IndexedColumn): number {
  return store.kind === 'numbers' ? store.column.values.length : store.column.present.length * 32;
}
