import type { Client } from '@elastic/elasticsearch';
import { RequestError } from '../../request-error.ts';
import type { Dsl, SortDsl } from './dsl.ts';
import { createExchange, type ExchangeAnswer, Unreachable } from './exchange.ts';
import { readSearchAnswer, type SearchAnswer } from './search-answer.ts';

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

/** The reading side's way to a cluster. Counts its searches, so that tests can hold plans to what they promise. */
export type SearchEngine = {
  search(index: string, body: SearchBody): Promise<SearchAnswer>;
  searches(): number;
};

export function createSearchEngine(client: Client): SearchEngine {
  const exchange = createExchange(client);
  let searches = 0;
  return {
    async search(index, body) {
      searches++;
      const answer = exchange(searchPath(index), JSON.stringify(wholeBody(body)));
      return readSearchAnswer(await answerBytes(answer));
    },
    searches: () => searches,
  };
}

export function searchPath(index: string): string {
  return `/${index}/_search?allow_partial_search_results=false`;
}

/** Stored fields are not read: everything comes from doc values. */
export function wholeBody(body: SearchBody): object {
  return { _source: false, stored_fields: '_none_', track_total_hits: false, ...body };
}

async function answerBytes(answer: Promise<ExchangeAnswer>): Promise<Buffer> {
  const { status, bytes } = await answer.catch((error) => {
    throw error instanceof Unreachable ? unavailable() : error;
  });
  if (status === 200) return bytes;
  // A cluster that is not ready or too busy is no fault of the request; anything else is a bug.
  throw [429, 502, 503].includes(status)
    ? unavailable()
    : new Error(`Elasticsearch answers ${status}: ${bytes.toString()}`);
}

function unavailable(): RequestError {
  return new RequestError(503, 'ServiceUnavailableError', 'The read index cannot be reached right now');
}
