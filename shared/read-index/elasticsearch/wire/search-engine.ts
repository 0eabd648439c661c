import type { Client } from '@elastic/elasticsearch';
import { createExchange, type Exchange, Unreachable } from './exchange.ts';
import { joinSearches } from './join-searches.ts';
import { readPlainAnswers } from './plain-answer.ts';
import { refusalOf, unavailable } from './refusal.ts';
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

/** Creates an engine. It throws 400 if a search is too large for the cluster, and 503 if the cluster does not answer it. */
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
        if (error instanceof Unreachable) throw unavailable();
        throw error instanceof SearchFailure ? refusalOf(error) : error;
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
