import type { SortKey, World } from '../read-index.ts';
import { compareSortValues, type SortValue } from './indexed-column.ts';
import { type BoundSortKey, createKeyReader, type KeyReader } from './key-reader.ts';
import { mergeSort } from './merge-sort.ts';
import { columnOf, type RowSpaceIndex } from './row-space.ts';
import { type Spaces, stepFrom } from './spaces.ts';
import { spend } from './time-limit.ts';

/** Code units that stand elsewhere in UTF-16 order than in code point order. */
const BEYOND_PLAIN = /[\ud800-\uffff]/;

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

/** Where `a` stands to `b`, by their keys. */
export function compareRows(
  keys: readonly BoundSortKey[],
  readers: readonly KeyReader[],
  a: number,
  b: number,
): number {
  for (let i = 0; i < readers.length; i++) {
    const read = readers[i] as KeyReader;
    const order = compareSortValues(read(a), read(b));
    if (order !== 0) return (keys[i] as BoundSortKey).descending ? -order : order;
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
  const read = createKeyReader(key);
  const values: SortValue[] = new Array(rows.length);
  let ranked = false;
  for (let i = 0; i < rows.length; i++) {
    if ((i & 63) === 0) spend(64);
    const value = read(rows[i] as number);
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
