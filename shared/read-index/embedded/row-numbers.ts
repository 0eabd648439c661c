import type { RowNumbers } from '../read-index.ts';
import type { RowSetIndex } from './row-set.ts';

const FIRST_ROWS = 1024;

/** Implements `ReadIndex.rowNumbers`. */
export function rowNumbers({ sources, numbers }: RowSetIndex, name: string): RowNumbers {
  const list = numbers.get(name) ?? { values: new Float64Array(FIRST_ROWS) };
  numbers.set(name, list);
  return {
    get: (row, source) =>
      row < list.values.length && sources[row] === source ? (list.values[row] as number) : 0,
    set(row, source, value) {
      // The row may have changed while its answer was made.
      if (sources[row] !== source) return;
      if (row >= list.values.length) list.values = withRoom(list.values, row);
      list.values[row] = value;
    },
  };
}

/** Forgets the numbers of a row whose source changes. */
export function forgetNumbers({ numbers }: RowSetIndex, row: number): void {
  for (const { values } of numbers.values()) if (row < values.length) values[row] = 0;
}

function withRoom(values: Float64Array, row: number): Float64Array {
  const larger = new Float64Array(2 ** Math.ceil(Math.log2(row + 1)));
  larger.set(values);
  return larger;
}
