import type { InstantFilter } from './instant-filter.ts';

/** Marks of matches in a hit, as the client asks for them. */
export type Tags = { readonly before: string; readonly after: string };

/** A search for values of one facet. */
export type FacetQuery = { readonly name: string; readonly text: string; readonly limit: number };

/** Query of a request. Its parameters are parsed, but not yet checked against a content type: names are the client's. */
export type InstantQuery = {
  readonly indexName: string;
  readonly query: string;
  readonly page: number;
  readonly hitsPerPage: number;
  /** `filters`, `facetFilters` and `numericFilters` together. */
  readonly filter: InstantFilter;
  readonly facets: readonly string[];
  readonly maxValuesPerFacet: number;
  readonly tags: Tags;
  /** Absent: all that a hit has. */
  readonly retrieved?: readonly string[];
  /** Absent: all texts. */
  readonly highlighted?: readonly string[];
  readonly snippeted: readonly Snippet[];
  /** Absent: all searched attributes. */
  readonly searched?: readonly string[];
  readonly typoTolerance: boolean;
  readonly facet?: FacetQuery;
  /** The parameters as a query string, for the answer. */
  readonly params: string;
};

export type Snippet = { readonly name: string; readonly words: number };
