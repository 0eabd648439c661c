import { type Client, errors } from '@elastic/elasticsearch';
import { keepAnsweringNodes } from './client.ts';
import { refusalOf, unavailable } from './refusal.ts';
import { readOutcomes, type SearchAnswer, SearchFailure, type SearchOutcome } from './search-answer.ts';
import { type Search, searchRequest } from './write-search.ts';

/** Sends searches to a cluster, for the read side. */
export type SearchEngine = {
  /** Sends the searches in one request. Returns their answers in the same order. */
  search(searches: readonly Search[]): Promise<readonly SearchAnswer[]>;
};

/** Milliseconds after which a search fails. Longer than any search of Varve may take. */
const LONGEST = 30_000;
/** Milliseconds after which a search is sent to another node. A node that hangs closes no connection. */
const ASK_ANOTHER = 2_500;

/** Also of several searches, which are lines of JSON. */
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' };

/** Creates an engine. It throws 400 if a search is too large for the cluster, and 503 if the cluster does not answer it. */
export function createSearchEngine(client: Client): SearchEngine {
  return {
    async search(searches) {
      if (searches.length === 0) return [];
      try {
        return (await send(client, searches)).map(answerOf);
      } catch (error) {
        if (error instanceof SearchFailure) throw refusalOf(error);
        throw error instanceof errors.ElasticsearchClientError ? unavailable(error) : error;
      }
    },
  };
}

/** Sends a request to one node, and to another if the first does not answer soon and there is another address. */
async function send(client: Client, searches: readonly Search[]): Promise<readonly SearchOutcome[]> {
  if (client.connectionPool.size === 1) return sendWithin(client, searches, LONGEST);
  try {
    return await sendWithin(client, searches, ASK_ANOTHER);
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
    keepAnsweringNodes(client);
    return sendWithin(client, searches, LONGEST - ASK_ANOTHER);
  }
}

async function sendWithin(
  client: Client,
  searches: readonly Search[],
  requestTimeout: number,
): Promise<readonly SearchOutcome[]> {
  const { path, body } = searchRequest(searches);
  // A connection may have been closed while it was idle, so a single address is tried twice too.
  const maxRetries = Math.max(1, client.connectionPool.size - 1);
  const options = { headers: JSON_TYPE, requestTimeout, maxRetries, retryBackoff: () => 0 };
  try {
    const answer = await client.transport.request({ method: 'POST', path, body }, options);
    return readOutcomes(answer, searches.length);
  } catch (error) {
    if (!(error instanceof errors.ResponseError)) throw error;
    throw new SearchFailure(error.statusCode ?? 500, JSON.stringify(error.body));
  }
}

function answerOf(outcome: SearchOutcome): SearchAnswer {
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.answer;
}
