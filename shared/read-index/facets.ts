import type { ScalarType } from '../schema/content-type.ts';

/** A request for the number of found rows that have each value of a field. */
export type FacetRequest = {
  /** Relations and components on the path to the field. */
  readonly path: readonly string[];
  readonly field: string;
  readonly type: ScalarType;
  /** Maximum number of values. The first ones in the order are kept. */
  readonly limit: number;
  /** Orders values by their text, in code points. Absent: the largest count comes first, and equal counts are ordered by text. */
  readonly byName?: true;
  /** Keeps values whose words begin with the words of this text. */
  readonly search?: string;
  /** Counts rows by these ranges instead. A range includes its `from` and excludes its `to`. */
  readonly ranges?: readonly FacetRange[];
};

/** A range. Its bounds are those of the index: dates and times are in milliseconds. */
export type FacetRange = { readonly name: string; readonly from?: number; readonly to?: number };

export type FacetCounts = {
  /** Values with their counts, in the order of the request. A row counts once for each of its values. */
  readonly values: readonly FacetCount[];
  /** Statistics of numbers, and of dates in milliseconds. A row's value counts once. Absent if no row has a value. */
  readonly stats?: FacetStats;
};

export type FacetCount = { readonly value: string; readonly count: number };

export type FacetStats = {
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly avg: number;
};
