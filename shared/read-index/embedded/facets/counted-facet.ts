import type { ScalarType } from '../../../schema/content-type.ts';
import { facetText, statsOf } from '../../facet-values.ts';
import type { FacetRange, FacetStats } from '../../facets.ts';
import type { Dictionary } from '../columns/dictionary.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import type { Step } from '../rows/row-set.ts';
import type { CountedValues } from './select-facets.ts';

/** Location of the counted values, at the end of a path from each row. */
export type CountedField = {
  /** Number of rows in the row set where the path begins. */
  readonly from: number;
  readonly steps: readonly Step[];
  readonly column: IndexedColumn;
  /** Number of rows in the row set where the path ends. */
  readonly rows: number;
};

/** Values of a facet with their counts. */
export type CountedFacet = {
  readonly values: () => CountedValues;
  readonly stats: () => FacetStats | undefined;
};

type Counts = { readonly [value: number]: number };

/** Returns the counts of a dictionary's terms. */
export function countedTerms({ values }: Dictionary, type: ScalarType, counts: Int32Array): CountedFacet {
  return {
    values: () => ({
      size: counts.length,
      // A free number has no value.
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

/** Returns the counts of ranges, including those that are 0. Ranges have no statistics. */
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
