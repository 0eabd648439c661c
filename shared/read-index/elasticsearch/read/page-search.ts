import type { Hits, SearchRequest } from '../../read-index.ts';
import type { Dsl } from '../plan/dsl.ts';
import type { SearchAnswer, SearchHit } from '../wire/search-answer.ts';
import type { SearchBody } from '../wire/write-search.ts';
import { hitDetails, NO_SOURCE, rememberRow, rowFields } from './read-rows.ts';
import type { Session } from './session.ts';

export type PageSearch = {
  readonly session: Session;
  readonly request: SearchRequest;
  readonly query: Dsl;
  /** True to read the rows with the data that `traverse` needs. */
  readonly details: boolean;
};

/** Returns the page of a search. */
export function readPage(
  { session, request, query, details }: PageSearch,
  page: Omit<SearchBody, 'query'>,
): Promise<SearchAnswer> {
  const docvalue_fields = ['key', ...rowFields(details)];
  return session.search(request.type, { ...page, query, docvalue_fields });
}

/** Returns keys and JSON of hits. Stores their links and components in the session if the request needs them. */
export function readHits({ session, request, details }: PageSearch, hits: readonly SearchHit[]): Hits {
  const rowSet = { type: request.type, path: [] };
  const rows: number[] = [];
  const sources: Uint8Array[] = [];
  for (const hit of hits) {
    const { fields = {}, source = NO_SOURCE } = hit;
    const key = fields['key']?.[0] as number;
    rows.push(key);
    sources.push(source);
    if (details) rememberRow(session, rowSet, key, hitDetails(hit));
  }
  return { rows, sources };
}

/** Returns the number of all matches, if the request asks for it. */
export function totalOf({ request }: PageSearch, { total }: SearchAnswer['hits']): number | undefined {
  return request.withTotal ? (total?.value ?? 0) : undefined;
}
