import { createCountBehind } from '../../count-behind.ts';
import { isInRange } from '../../facet-values.ts';
import type { FacetRequest } from '../../facets.ts';
import { sortValue } from '../columns/indexed-column.ts';
import { dictionaryOf } from '../columns/term-column.ts';
import { type Bits, hasBit } from '../lists/bits.ts';
import {
  type CountedFacet,
  type CountedField,
  countedNumbers,
  countedRanges,
  countedTerms,
} from './counted-facet.ts';

/** Values by number, and the function that makes a facet of their counts. */
type NumberedValues = {
  readonly size: number;
  readonly valuesOf: (end: number, add: (value: number) => void) => void;
  readonly counted: (counts: Int32Array) => CountedFacet;
};

/** Returns whether counting from the values back to the rows takes less time. That is so if many paths lead to the same rows. */
export function leadsToMany({ from, steps, rows }: CountedField, counted: number): boolean {
  let [above, reached] = [from, 1];
  let [forward, links] = [0, 0];
  for (const { down, target } of steps) {
    const { total } = down.lists;
    const visited = reached * (total / Math.max(1, above));
    forward += visited;
    links += above + total;
    reached = Math.min(target.size, visited);
    above = target.size;
  }
  // In the worst case each row at the end has a different value.
  return counted * forward > links * (1 + rows / 32);
}

/** Counts from the values back to the rows. If a call ends with its slice, the next call continues. */
export function createBackwardCount(
  field: CountedField,
  request: FacetRequest,
  matched: Bits,
): () => CountedFacet {
  let numbered: NumberedValues | undefined;
  let count: (() => Int32Array) | undefined;
  return () => {
    numbered ??= numberValues(field, request);
    count ??= createCountBehind(pathOf(field, numbered), (row) => hasBit(matched, row));
    return numbered.counted(count());
  };
}

function pathOf({ from, steps, rows }: CountedField, { size, valuesOf }: NumberedValues) {
  const sizes = [from, ...steps.map(({ target }) => target.size)];
  const levels = steps.map(({ down }, at) => ({ rows: sizes[at] as number, lists: down.lists }));
  return { levels, ends: rows, values: size, valuesOf };
}

function numberValues({ column, rows }: CountedField, { ranges, type }: FacetRequest): NumberedValues {
  if (ranges !== undefined) {
    return {
      size: ranges.length,
      valuesOf: (end, add) => {
        const value = sortValue(column, end);
        if (value === null) return;
        for (const [at, range] of ranges.entries()) if (isInRange(range, Number(value))) add(at);
      },
      counted: (counts) => countedRanges(ranges, counts),
    };
  }
  if (column.store.kind === 'terms') {
    const dictionary = dictionaryOf(column.store.column, rows);
    return {
      size: dictionary.values.length,
      valuesOf: (end, add) => {
        const term = dictionary.terms[end] as number;
        if (term >= 0) add(term);
      },
      counted: (counts) => countedTerms(dictionary, type, counts),
    };
  }
  const numbers = new Map<number, number>();
  for (let end = 0; end < rows; end++) {
    const value = sortValue(column, end);
    if (value !== null && !numbers.has(Number(value))) numbers.set(Number(value), numbers.size);
  }
  return {
    size: numbers.size,
    valuesOf: (end, add) => {
      const value = sortValue(column, end);
      if (value !== null) add(numbers.get(Number(value)) as number);
    },
    counted: (counts) => countedNumbers([...numbers.keys()], type, counts),
  };
}
