import type { Dsl, SortDsl } from '../plan/dsl.ts';

export type SearchBody = {
  readonly from?: number;
  readonly size: number;
  readonly query: Dsl;
  readonly sort?: readonly SortDsl[];
  readonly search_after?: readonly (string | number | null)[];
  readonly track_total_hits?: boolean;
  readonly docvalue_fields?: readonly string[];
  readonly aggs?: { readonly [name: string]: unknown };
  /** Number of matches after which the search stops, for example 1 to find out whether there is a match. */
  readonly terminate_after?: number;
  /** Score below which documents do not match. */
  readonly min_score?: number;
};

export type Search = {
  readonly index: string;
  readonly body: SearchBody;
};

/** Returns the search as text. It reads no stored fields, because everything comes from doc values. */
function writeSearch({ body }: Search): string {
  return JSON.stringify({ _source: false, stored_fields: '_none_', track_total_hits: false, ...body });
}

/** Returns the request for one search, or for several together. */
export function searchRequest(searches: readonly Search[]): { readonly path: string; readonly body: string } {
  const [only, ...others] = searches;
  if (only !== undefined && others.length === 0)
    return { path: `/${only.index}/_search?allow_partial_search_results=false`, body: writeSearch(only) };
  let body = '';
  for (const search of searches) {
    const { index } = search;
    body += `{"index":${JSON.stringify(index)},"allow_partial_search_results":false}\n${writeSearch(search)}\n`;
  }
  return { path: '/_msearch', body };
}
