import type { InstantFilter } from './instant-filter.ts';

/** Texts before and after each match in a hit, as the client chooses them. */
export type Tags = { readonly before: string; readonly after: string };

/** Search for values of a facet. */
export type FacetQuery = { readonly name: string; readonly text: string; readonly limit: number };

/** Query of a request. Its parameters are parsed, but not yet checked against a content type: names are the client's. */
export type InstantQuery = {
  readonly indexName: string;
  readonly query: string;
  readonly page: number;
  readonly hitsPerPage: number;
  /** Filter of `filters`, `facetFilters` and `numericFilters` together. */
  readonly filter: InstantFilter;
  readonly facets: readonly string[];
  readonly maxValuesPerFacet: number;
  readonly tags: Tags;
  /** Attributes to return; absent for all. */
  readonly retrieved?: readonly string[];
  /** Attributes to highlight; absent for all texts. */
  readonly highlighted?: readonly string[];
  readonly snippeted: readonly Snippet[];
  /** Attributes to search; absent for all searched attributes. */
  readonly searched?: readonly string[];
  readonly typoTolerance: boolean;
  readonly facet?: FacetQuery;
  /** Query string of the parameters, for the answer. */
  readonly params: string;
};

export type Snippet = { readonly name: string; readonly words: number };
