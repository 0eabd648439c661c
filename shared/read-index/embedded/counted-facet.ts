import type { ScalarType } from '../../schema/content-type.ts';
import { facetText, statsOf } from '../facet-values.ts';
import type { FacetRange, FacetStats } from '../facets.ts';
import type { Dictionary } from './dictionary.ts';
import type { IndexedColumn } from './indexed-column.ts';
import type { Step } from './row-set.ts';
import type { CountedValues } from './select-facets.ts';

/** Where the counted values are: at the end of a way from each row. */
export type CountedField = {
  /** Rows of the row set where the way begins. */
  readonly from: number;
  readonly steps: readonly Step[];
  readonly column: IndexedColumn;
  /** Rows of the row set where the way ends. */
  readonly rows: number;
};

/** Values of a facet with their counts. */
export type CountedFacet = {
  readonly values: () => CountedValues;
  readonly stats: () => FacetStats | undefined;
};

type Counts = { readonly [value: number]: number };

/** The terms of a dictionary. */
export function countedTerms({ values }: Dictionary, type: ScalarType, counts: Int32Array): CountedFacet {
  return {
    values: () => ({
      size: counts.length,
      // The value of a number that is free is undefined.
      countAt: (term) => (values[term] === undefined ? 0 : (counts[term] as number)),
      nameAt: (term) => facetText(type, values[term] as string),
    }),
    stats: () => undefined,
  };
}

/** Returns the counts of a column of numbers, dates or booleans. `counts` are in the order of `numbers`. */
export function countedNumbers(numbers: readonly number[], type: ScalarType, counts: Counts): CountedFacet {
  return {
    values: () => ({
      size: numbers.length,
      countAt: (at) => counts[at] as number,
      nameAt: (at) => facetText(type, numbers[at] as number),
    }),
    stats: () => (type === 'boolean' ? undefined : statsOf(countsOf(numbers, counts))),
  };
}

function* countsOf(numbers: readonly number[], counts: Counts): Iterable<[number, number]> {
  for (const [at, number] of numbers.entries()) if (counts[at] !== 0) yield [number, counts[at] as number];
}

/** Returns the counts of ranges, also those that are 0. They have no statistics. */
export function countedRanges(ranges: readonly FacetRange[], counts: Counts): CountedFacet {
  return {
    values: () => ({
      size: ranges.length,
      countAt: (at) => counts[at] as number,
      nameAt: (at) => ranges[at]?.name ?? '',
    }),
    stats: () => undefined,
  };
}
