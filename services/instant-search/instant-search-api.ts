import { defined } from '../../shared/defined.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { type ObserveQuery, runQuery } from '../operating/observe-query.ts';
import { answerQueries, type InstantTerms } from './answer-queries.ts';
import { type ClickCounting, readClicks } from './click-events.ts';
import type { InstantQuery } from './instant-query.ts';
import { type InstantScope, planInstant } from './plan-query.ts';
import { readFacetRequest, readOneQuery, readQueries } from './read-request.ts';
import { refuseService } from './supported-parameters.ts';

/** Answers Algolia's search requests for one kind of caller. `body` is a request's JSON. Every refusal throws a RequestError. */
export type InstantSearchApi = ReturnType<typeof createInstantSearch>;

export type InstantSearchOptions = InstantScope & {
  readonly index: ReadIndex;
  /** Counts of searches. Absent: the server counts none. */
  readonly counting?: CountingParts | undefined;
  /** Runs and observes each request; absent if requests are not observed. */
  readonly observe?: ObserveQuery;
};

/** `index` counts its searches, unlike that of the options. */
type CountingParts = ClickCounting & { readonly index: ReadIndex };

/** Creates the protocol for callers with the rights of `options`. It is observed under the first query's index. */
export function createInstantSearch(options: InstantSearchOptions) {
  const { counting, observe = runQuery } = options;
  const answer = (queries: readonly InstantQuery[], terms: InstantTerms) => {
    terms.ignored(queries.flatMap(({ ignored }) => ignored));
    const isCounted = queries.every((query) => query.isCounted || query.hitsPerPage === 0);
    return observe({
      index: (isCounted ? counting?.index : undefined) ?? options.index,
      // The requests of one POST are mostly about one type; the parameters identify slow ones.
      type: queries[0]?.indexName ?? '',
      queryString: queries.map(({ indexName, params }) => `${indexName}?${params}`).join(' '),
      requestId: terms.id,
      plan: () => queries.map((query) => planInstant(query, options)),
      answer: (plans, observed) =>
        answerQueries(observed, plans, {
          ...terms,
          ...defined({ idOf: isCounted ? counting?.idOf : undefined }),
        }),
    });
  };
  const answerOne = async (query: InstantQuery, terms: InstantTerms) =>
    jsonBytes((await answer([query], terms))[0] ?? {});
  return {
    /** Answers several queries, each with its index. */
    queries: async (body: unknown, terms: InstantTerms) =>
      jsonBytes({ results: await answer(readQueries(body), terms) }),
    query: async (indexName: string, body: unknown, terms: InstantTerms) =>
      answerOne(readOneQuery(indexName, body), terms),
    facetValues: async (target: FacetTarget, body: unknown, terms: InstantTerms) =>
      answerOne(readFacetRequest(target.indexName, target.facet, body), terms),
    /** Counts the clicks among the events of a request. */
    events(body: unknown): Uint8Array {
      if (counting === undefined) return refuseService('insights');
      for (const { queryID, positions } of readClicks(body)) counting.clicked(queryID, positions);
      return jsonBytes({ status: 200, message: 'OK' });
    },
  };
}

type FacetTarget = { readonly indexName: string; readonly facet: string };

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
