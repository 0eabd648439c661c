import type { SortKey, World } from '../read-index.ts';
import { compareSortValues, type IndexedColumn, type SortValue, sortValue } from './indexed-column.ts';
import { mergeSort } from './merge-sort.ts';
import { listCount, listEntry } from './row-lists.ts';
import { columnOf, type RowSpaceIndex, type Step } from './row-space.ts';
import { type Spaces, stepFrom } from './spaces.ts';

/** Code units that stand elsewhere in UTF-16 order than in code point order. */
const BEYOND_PLAIN = /[\ud800-\uffff]/;

/** A sort key bound to a row space and world. */
export type BoundSortKey = {
  readonly steps: readonly Step[];
  readonly column: IndexedColumn;
  readonly descending: boolean;
};

/** Binds sort keys; ascending id comes last. Throws on a field or attribute the schema does not have. */
export function bindSort(
  spaces: Spaces,
  space: RowSpaceIndex,
  world: World,
  sort: readonly SortKey[],
): readonly BoundSortKey[] {
  const keys = sort.map(({ path, field, direction }) => {
    let at = space;
    const steps = path.map((attribute) => {
      const step = stepFrom(spaces, at, world, attribute);
      at = step.target;
      return step;
    });
    return { steps, column: columnOf(at, field), descending: direction === 'desc' };
  });
  return [...keys, { steps: [], column: space.ids, descending: false }];
}

/** Where `a` stands to `b`, reading their values: for a few comparisons. */
export function compareRows(keys: readonly BoundSortKey[], a: number, b: number): number {
  for (const key of keys) {
    const order = compareSortValues(keyValue(key, a, 0), keyValue(key, b, 0));
    if (order !== 0) return key.descending ? -order : order;
  }
  return a - b;
}

/** The rows in order. Each row's keys are read once, as numbers. */
export function sortRows(keys: readonly BoundSortKey[], rows: readonly number[] | Int32Array): Int32Array {
  const columns = keys.map((key) => sortableNumbers(key, rows));
  const order = mergeSort(rows.length, (a, b) => {
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i] as Float64Array;
      const left = column[a] as number;
      const right = column[b] as number;
      if (left !== right) return left < right ? -1 : 1;
    }
    return (rows[a] as number) - (rows[b] as number);
  });
  return order.map((at) => rows[at] as number);
}

/** One number per row that sorts ascending as the key asks; NULL is infinite. */
function sortableNumbers(key: BoundSortKey, rows: readonly number[] | Int32Array): Float64Array {
  const values: SortValue[] = new Array(rows.length);
  let ranked = false;
  for (let i = 0; i < rows.length; i++) {
    const value = keyValue(key, rows[i] as number, 0);
    values[i] = value;
    if (typeof value === 'string' || typeof value === 'bigint') ranked = true;
  }
  const ranks = ranked ? ranksOf(values.filter((value) => value !== null)) : undefined;
  const sign = key.descending ? -1 : 1;
  const numbers = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const value = values[i] as SortValue;
    const number = value === null ? Number.POSITIVE_INFINITY : (ranks?.get(value) ?? Number(value));
    numbers[i] = sign * number;
  }
  return numbers;
}

function ranksOf(values: readonly SortValue[]): Map<SortValue, number> {
  const distinct = [...new Set(values)];
  const plain = distinct.every((value) => typeof value === 'string' && !BEYOND_PLAIN.test(value));
  // Where UTF-16 order is code point order, the built-in sort takes a third of the time.
  if (plain) distinct.sort();
  else distinct.sort(compareSortValues);
  return new Map(distinct.map((value, rank) => [value, rank]));
}

/** Of all values at the ends of the path the smallest (asc) or largest (desc); no end is NULL (SEMANTICS section 7). */
export function keyValue(key: BoundSortKey, row: number, level: number): SortValue {
  const step = key.steps[level];
  if (step === undefined) return sortValue(key.column, row);
  const { lists } = step.down;
  const count = listCount(lists, row);
  if (count === 0) return null;
  let best = keyValue(key, listEntry(lists, row, 0), level + 1);
  for (let index = 1; index < count; index++) {
    const value = keyValue(key, listEntry(lists, row, index), level + 1);
    const order = compareSortValues(value, best);
    if (key.descending ? order > 0 : order < 0) best = value;
  }
  return best;
}
