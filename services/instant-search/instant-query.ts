import type { GeoPoint } from '../../shared/read-index/geo-area.ts';
import type { GeoBox } from '../query/geo-operators.ts';
import type { InstantFilter } from './instant-filter.ts';

/** Texts before and after each match in a hit, as the client chooses them. */
export type Tags = { readonly before: string; readonly after: string };

/** Search for values of a facet. */
export type FacetQuery = { readonly name: string; readonly text: string; readonly limit: number };

/** The name of all members of an answer. */
export const EVERY_MEMBER = '*';

/** Center of `aroundLatLng`, and how distances from it count. */
type Around = {
  readonly from: GeoPoint;
  /** Radius in metres; absent for any distance. */
  readonly meters?: number;
  /** Metres within which distances are equal. */
  readonly step: number;
};

/** Query of a request. Its parameters are parsed, but not yet checked against a content type: names are the client's. */
export type InstantQuery = {
  readonly indexName: string;
  readonly query: string;
  /** True if the last word may be incomplete. */
  readonly hasPrefix: boolean;
  readonly page: number;
  readonly hitsPerPage: number;
  /** Hits from `offset` on, in place of a page. */
  readonly window?: { readonly offset: number; readonly length: number };
  /** Filter of `filters`, `facetFilters` and `numericFilters` together. */
  readonly filter: InstantFilter;
  /** Boxes of `insideBoundingBox`, of which one has to contain an entry. */
  readonly boxes?: readonly GeoBox[];
  readonly around?: Around;
  readonly facets: readonly string[];
  readonly maxValuesPerFacet: number;
  readonly tags: Tags;
  /** Text in place of what a snippet omits. */
  readonly ellipsis: string;
  /** Members of the answer. `EVERY_MEMBER` is all of them, as is their absence. */
  readonly members?: readonly string[];
  readonly sortFacetsBy: 'count' | 'alpha';
  /** Attributes to return; absent for all. */
  readonly retrieved?: readonly string[];
  /** Attributes to highlight; absent for all texts. */
  readonly highlighted?: readonly string[];
  readonly snippeted: readonly Snippet[];
  /** Attributes to search; absent for all searched attributes. */
  readonly searched?: readonly string[];
  readonly typoTolerance: boolean;
  /** True if the owner's rules for some searches count. */
  readonly withRules: boolean;
  /** True if hits say how they rank. */
  readonly withRankingInfo: boolean;
  /** False: the sender does not want the search to be counted. */
  readonly isCounted: boolean;
  /** True if the answer has the id under which clicks on its hits are counted. */
  readonly withQueryId: boolean;
  /** Maximum hits of a group; 0: hits are not grouped. */
  readonly distinct: number;
  readonly facet?: FacetQuery;
  /** Query string of the parameters, for the answer. */
  readonly params: string;
  /** Names of parameters that have no effect. */
  readonly ignored: readonly string[];
};

export type Snippet = { readonly name: string; readonly words: number };
