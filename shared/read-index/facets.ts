import type { ScalarType } from '../schema/content-type.ts';

/** Asks how many of the rows found have each value of a field. */
export type FacetRequest = {
  /** Relations and components that lead to the field. */
  readonly path: readonly string[];
  readonly field: string;
  readonly type: ScalarType;
  /** Values at the most: those that most rows have. */
  readonly limit: number;
  /** Keeps values whose words begin with the words of this text. */
  readonly search?: string;
  /** Counts rows by these ranges instead, with `from` and without `to`. */
  readonly ranges?: readonly FacetRange[];
};

/** Bounds as the index holds them: dates and times in milliseconds. */
export type FacetRange = { readonly name: string; readonly from?: number; readonly to?: number };

export type FacetCounts = {
  /** A row counts once for each of its values. From the largest count on, equal ones by value. */
  readonly values: readonly FacetCount[];
  /** Statistics of numbers, and of dates in milliseconds: a row's value counts once. Absent if no row has one. */
  readonly stats?: FacetStats;
};

export type FacetCount = { readonly value: string; readonly count: number };

export type FacetStats = {
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly avg: number;
};
