import type { Client } from '@elastic/elasticsearch';
import { RequestError } from '../../../request-error.ts';
import { createExchange, type Exchange, Unreachable } from './exchange.ts';
import { joinSearches } from './join-searches.ts';
import { readPlainAnswers } from './plain-answer.ts';
import {
  readSearchAnswer,
  readSearchAnswers,
  type SearchAnswer,
  SearchFailure,
  type SearchOutcome,
} from './search-answer.ts';
import { type Search, searchRequest, type WrittenSearch, writeSearch } from './write-search.ts';

/** Sends searches to a cluster, for the read side. */
export type SearchEngine = {
  /** Sends the searches in one request, which may include searches of other callers. Returns their answers in the same order. */
  search(searches: readonly Search[]): Promise<readonly SearchAnswer[]>;
};

/**
 * Statuses of a removed index, of a cluster that is not ready or too busy, and of a gateway that cannot reach the cluster. Any other status
 * is a bug.
 */
const PASSING: readonly number[] = [404, 429, 502, 503, 504];

/** Creates an engine. It throws 503 if the cluster cannot be reached, or cannot answer now. */
export function createSearchEngine(client: Client): SearchEngine {
  const exchange = createExchange(client);
  const search = joinSearches({
    send: (searches) => sendSearches(exchange, searches),
    now: () => performance.now(),
  });
  return {
    async search(searches) {
      if (searches.length === 0) return [];
      try {
        return await search(searches.map(writeSearch));
      } catch (error) {
        const isPassing = error instanceof SearchFailure && PASSING.includes(error.status);
        throw isPassing || error instanceof Unreachable ? unavailable() : error;
      }
    },
  };
}

async function sendSearches(
  exchange: Exchange,
  searches: readonly WrittenSearch[],
): Promise<readonly SearchOutcome[]> {
  const { path, body } = searchRequest(searches);
  const { status, bytes } = await exchange(path, body);
  if (status !== 200) throw new SearchFailure(status, bytes.toString());
  const plain = searches.every(({ isPlain }) => isPlain)
    ? readPlainAnswers(bytes, searches.length)
    : undefined;
  if (plain !== undefined) return plain.map((answer) => ({ kind: 'answered', answer }));
  return searches.length > 1
    ? readSearchAnswers(bytes)
    : [{ kind: 'answered', answer: readSearchAnswer(bytes) }];
}

/** Returns the 503 for a cluster that cannot be reached, is too busy, or has just removed an index. */
export function unavailable(): RequestError {
  return new RequestError('read-index-unavailable', 'The read index cannot be reached right now');
}
