import type { Client } from '@elastic/elasticsearch';
import { RequestError } from '../../request-error.ts';
import type { Dsl, SortDsl } from './dsl.ts';
import { createExchange, type Exchange, Unreachable } from './exchange.ts';
import { readPlainAnswers } from './plain-answer.ts';
import { readSearchAnswer, readSearchAnswers, type SearchAnswer, SearchFailure } from './search-answer.ts';

export type SearchBody = {
  readonly from?: number;
  readonly size: number;
  readonly query: Dsl;
  readonly sort?: readonly SortDsl[];
  readonly search_after?: readonly (string | number | null)[];
  readonly track_total_hits?: boolean;
  readonly docvalue_fields?: readonly string[];
  readonly aggs?: { readonly [name: string]: unknown };
};

export type Search = {
  readonly index: string;
  readonly body: SearchBody;
  /** It asks for `key` and binary fields, and neither sort values nor aggregations are of interest; see `readPlainAnswers`. */
  readonly plain?: boolean;
};

/** The reading side's way to a cluster. */
export type SearchEngine = {
  /** Sends the searches in one request. Their answers, in the same order. */
  search(searches: readonly Search[]): Promise<readonly SearchAnswer[]>;
};

export function createSearchEngine(client: Client): SearchEngine {
  const exchange = createExchange(client);
  return {
    async search(searches) {
      try {
        const [only, ...others] = searches;
        if (only === undefined) return [];
        const { path, body } = searchRequest(only, others);
        const bytes = await ask(exchange, path, body);
        const plain = searches.every((search) => search.plain === true);
        const read = plain ? readPlainAnswers(bytes, searches.length) : undefined;
        if (read !== undefined) return read;
        return others.length > 0 ? readSearchAnswers(bytes) : [readSearchAnswer(bytes)];
      } catch (error) {
        // A cluster that is not ready or too busy, or an index that was taken away, is no fault of the request; anything else is a bug.
        const isBusy = error instanceof SearchFailure && [404, 429, 502, 503].includes(error.status);
        throw isBusy || error instanceof Unreachable ? unavailable() : error;
      }
    },
  };
}

/** What is sent for one search, or for several at once. */
export function searchRequest(
  only: Search,
  others: readonly Search[],
): { readonly path: string; readonly body: string } {
  if (others.length === 0) {
    const path = `/${only.index}/_search?allow_partial_search_results=false`;
    return { path, body: JSON.stringify(wholeBody(only.body)) };
  }
  const lines = [only, ...others].flatMap(({ index, body }) => [
    JSON.stringify({ index, allow_partial_search_results: false }),
    JSON.stringify(wholeBody(body)),
  ]);
  return { path: '/_msearch', body: `${lines.join('\n')}\n` };
}

/** Stored fields are not read: everything comes from doc values. */
function wholeBody(body: SearchBody): object {
  return { _source: false, stored_fields: '_none_', track_total_hits: false, ...body };
}

async function ask(exchange: Exchange, path: string, body: string): Promise<Buffer> {
  const { status, bytes } = await exchange(path, body);
  if (status !== 200) throw new SearchFailure(status, bytes.toString());
  return bytes;
}

export function unavailable(): RequestError {
  return new RequestError(503, 'ServiceUnavailableError', 'The read index cannot be reached right now');
}
