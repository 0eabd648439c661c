import { createMergeSort } from '../../../turns/merge-sort.ts';
import { rest } from '../../../turns/slice.ts';
import { type Nearest, stepsAway } from '../../geo-area.ts';
import type { SortKey, World } from '../../read-index.ts';
import { compareSortValues, type SortValue } from '../../sort-value.ts';
import { type IndexedColumn, sortValue } from '../columns/indexed-column.ts';
import { type BoundSortKey, compareByKey, createKeyReader, type KeyReader } from '../rows/key-reader.ts';
import { columnOf, type RowSetIndex } from '../rows/row-set.ts';
import { type RowSets, stepsFrom } from '../rows/row-sets.ts';

/** Values that are sorted between two checks of the clock, and the cost of reading one in steps of a slice. */
const SORTED_AT_ONCE = 1_024;
const READ_STEPS = 2;

/** Matches code units whose UTF-16 order differs from code point order. */
const BEYOND_PLAIN = /[\ud800-\uffff]/;

/** Binds sort keys, and adds ascending id as the last one. Throws if the schema does not have a field or attribute. */
export function bindSort(
  rowSets: RowSets,
  rowSet: RowSetIndex,
  world: World,
  sort: readonly SortKey[],
): readonly BoundSortKey[] {
  const keys = sort.map((key): BoundSortKey => {
    if ('nearest' in key) return bindNearest(rowSet, key.nearest);
    const { path, field, direction } = key;
    const { steps, end } = stepsFrom(rowSets, rowSet, world, path);
    return {
      steps,
      ...valuesOf(columnOf(end, field)),
      descending: direction !== 'asc',
      nullLast: direction !== 'desc',
    };
  });
  return [...keys, { steps: [], ...valuesOf(rowSet.ids), descending: false, nullLast: true }];
}

function valuesOf(column: IndexedColumn): Pick<BoundSortKey, 'read' | 'columns'> {
  return { read: (row) => sortValue(column, row), columns: [column] };
}

function bindNearest(rowSet: RowSetIndex, nearest: Nearest): BoundSortKey {
  const [lat, lng] = [columnOf(rowSet, nearest.columns.lat), columnOf(rowSet, nearest.columns.lng)];
  const read: KeyReader = (row) => stepsAway(nearest, sortValue(lat, row), sortValue(lng, row));
  return { steps: [], read, columns: [lat, lng], descending: false, nullLast: true };
}

/** Compares two rows by their keys, and then by their ordinals. */
export function compareRows(
  keys: readonly BoundSortKey[],
  readers: readonly KeyReader[],
  a: number,
  b: number,
): number {
  return compareKeys(keys, readers, a, b) || a - b;
}

/** Compares two rows by their keys; 0 if they are equal. */
export function compareKeys(
  keys: readonly BoundSortKey[],
  readers: readonly KeyReader[],
  a: number,
  b: number,
): number {
  for (let i = 0; i < readers.length; i++) {
    const read = readers[i] as KeyReader;
    const order = compareByKey(keys[i] as BoundSortKey, read(a), read(b));
    if (order !== 0) return order;
  }
  return 0;
}

/** Sorts rows. If a call ends with its slice, the next call continues. */
export type RowSort = () => Int32Array;

/** Creates a sort that reads each row's keys once, as numbers. */
export function createRowSort(keys: readonly BoundSortKey[], rows: readonly number[] | Int32Array): RowSort {
  const readings = keys.map((key) => readNumbers(key, rows));
  const columns: Float64Array[] = [];
  const order = createMergeSort(rows.length, (a, b) => {
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i] as Float64Array;
      const left = column[a] as number;
      const right = column[b] as number;
      if (left !== right) return left < right ? -1 : 1;
    }
    return (rows[a] as number) - (rows[b] as number);
  });
  return () => {
    while (columns.length < readings.length) columns.push((readings[columns.length] as () => Float64Array)());
    return order().map((at) => rows[at] as number);
  };
}

/** Reads one number per row. Ascending numbers have the key's order; NULL is infinite. */
function readNumbers(key: BoundSortKey, rows: readonly number[] | Int32Array): () => Float64Array {
  const readKey = createKeyReader(key);
  const numbers = new Float64Array(rows.length);
  /** Distinct texts and large integers. Their ranks replace the rows' numbers. */
  const known = new Map<SortValue, number>();
  let done = 0;
  const read = (row: number): number => {
    const value = readKey(row);
    if (value === null) return Number.NaN;
    if (typeof value !== 'string' && typeof value !== 'bigint') return Number(value);
    const at = known.get(value) ?? known.size;
    if (at === known.size) known.set(value, at);
    return at;
  };
  let finish: (() => Float64Array) | undefined;
  return () => {
    while (done < rows.length) {
      numbers[done] = read(rows[done] as number);
      done++;
      if ((done & 63) === 0) rest(64 * READ_STEPS);
    }
    finish ??= createAscending(numbers, known, key);
    return finish();
  };
}

/** Replaces values by ranks if there are ranks, and sets the sign so that the requested order is ascending. */
function createAscending(
  numbers: Float64Array,
  known: ReadonlyMap<SortValue, number>,
  { descending, nullLast }: BoundSortKey,
): () => Float64Array {
  const sign = descending ? -1 : 1;
  const ofNull = nullLast ? Number.POSITIVE_INFINITY : sign * Number.POSITIVE_INFINITY;
  const ranking = createRanking(known);
  let done = 0;
  return () => {
    const ranks = ranking();
    const isRanked = ranks.length > 0;
    while (done < numbers.length) {
      const number = numbers[done] as number;
      if (Number.isNaN(number)) numbers[done] = ofNull;
      else numbers[done] = sign * (isRanked ? (ranks[number] as number) : number);
      done++;
      if ((done & 1023) === 0) rest(1024);
    }
    return numbers;
  };
}

/** Returns the rank of each value among all values, by the value's number. */
function createRanking(known: ReadonlyMap<SortValue, number>): () => Float64Array {
  const values = [...known.keys()];
  const ranks = new Float64Array(values.length);
  const runs: SortValue[] = [];
  const compare = (a: number, b: number) => compareSortValues(runs[a] as SortValue, runs[b] as SortValue);
  const merge = createMergeSort(values.length, compare, SORTED_AT_ONCE);
  let ranked = 0;
  return () => {
    while (runs.length < values.length) {
      for (const value of sortRun(values.slice(runs.length, runs.length + SORTED_AT_ONCE))) runs.push(value);
      rest(SORTED_AT_ONCE * READ_STEPS);
    }
    const order = merge();
    while (ranked < order.length) {
      ranks[known.get(runs[order[ranked] as number] as SortValue) as number] = ranked;
      ranked++;
      if ((ranked & 255) === 0) rest(256);
    }
    return ranks;
  };
}

function sortRun(values: SortValue[]): SortValue[] {
  const plain = values.every((value) => typeof value === 'string' && !BEYOND_PLAIN.test(value));
  // If UTF-16 order is code point order, the built-in sort takes a third of the time.
  return plain ? values.sort() : values.sort(compareSortValues);
}
