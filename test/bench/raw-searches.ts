import { createInstantSearch } from '../../services/instant-search/instant-search-api.ts';
import { answerList } from '../../services/query/answer-list.ts';
import { planList } from '../../services/query/plan-query.ts';
import { readLiveSet } from '../../shared/read-index/elasticsearch/indices/index-sets.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import { placesOf } from '../../shared/read-index/elasticsearch/indices/read-indices.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import { createIndexNames } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import {
  createElasticsearchReader,
  type ElasticsearchReader,
} from '../../shared/read-index/elasticsearch/read/elasticsearch-reader.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import type { SearchAnswer } from '../../shared/read-index/elasticsearch/wire/search-answer.ts';
import {
  createSearchEngine,
  type SearchEngine,
} from '../../shared/read-index/elasticsearch/wire/search-engine.ts';
import { type Search, searchRequest } from '../../shared/read-index/elasticsearch/wire/write-search.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { LoadRequest } from './measure-load.ts';

/** Finds the requests that Varve sends to Elasticsearch for a request, in their order. */
export type RawSearches = {
  of(request: LoadRequest): Promise<readonly LoadRequest[]>;
  /** The same without asking Elasticsearch. Possible if no request depends on the answer to an earlier one. */
  unasked(request: LoadRequest): Promise<readonly LoadRequest[]>;
  close(): Promise<void>;
};

export type RawSearchesOptions = {
  readonly url: string;
  readonly space: string;
  readonly registry: SchemaRegistry;
};

const NOT_LIMITED = Number.MAX_SAFE_INTEGER;

/** Answers requests in this process, with Varve's own code, and reports the requests that it sent for each. */
export function createRawSearches({ url, space, registry }: RawSearchesOptions): RawSearches {
  const client = createElasticsearchClient({ url });
  const layouts = createLayouts(registry);
  const names = createIndexNames(space);
  const engine = createSearchEngine(client);
  const aliases = placesOf(layouts.values()).map(({ layout, world }) => names.alias(layout.type, world));
  // Searches name the indices and not their aliases, as in a process that serves.
  const live = readLiveSet(client, space, new Set(aliases));
  const readerOf = (asked: SearchEngine) =>
    createElasticsearchReader({
      indices: { get: () => live, refresh: () => live },
      faults: createKnownFaults(),
      engine: asked,
      names,
      layouts: (uid) => layouts.get(uid) ?? missing(uid),
      semiJoinLimit: NOT_LIMITED,
      sortLimit: NOT_LIMITED,
      groupLimit: 10_000,
    });
  const requestsOf = async (asked: SearchEngine, request: LoadRequest) => {
    const sent: LoadRequest[] = [];
    const search: SearchEngine['search'] = (searches) => {
      sent.push(loadRequest(searches));
      return asked.search(searches);
    };
    await answer(registry, readOnly(readerOf({ search })), request);
    return sent;
  };
  const silent = countOnly(engine);
  return {
    of: (request) => requestsOf(engine, request),
    unasked: (request) => requestsOf(silent, request),
    close: () => client.close(),
  };
}

/** Answers a request for a list, or the queries of InstantSearch. */
async function answer(
  registry: SchemaRegistry,
  index: ReadIndex,
  { path, body }: LoadRequest,
): Promise<void> {
  const { pathname, search } = new URL(path, 'http://localhost');
  const common = { registry, defaultLocale: 'en' };
  if (pathname.startsWith('/1/')) {
    const api = createInstantSearch({ ...common, index, caller: {}, rules: {} });
    await api.queries(JSON.parse(body ?? '{}'), { id: '', now: () => performance.now(), ignored() {} });
    return;
  }
  const plural = pathname.split('/').at(-1);
  const type = [...registry.contentTypes.values()].find(({ pluralName }) => pluralName === plural);
  if (type === undefined) throw new Error(`${path} is not a collection`);
  await answerList(index, planList({ ...common, type, queryString: search.slice(1) }));
}

/** A search engine that only counts matches, and returns no hits. Pages far down a list depend on the counts. */
function countOnly(engine: SearchEngine): SearchEngine {
  const totals = new Map<string, number>();
  const nameOf = ({ index, body }: Search) => `${index} ${JSON.stringify(body.query)}`;
  const answer = async (search: Search): Promise<SearchAnswer> => {
    const name = nameOf(search);
    if (search.body.size === 0) {
      const [counted] = await engine.search([search]);
      totals.set(name, counted?.hits.total?.value ?? 0);
    }
    return { hits: { total: { value: totals.get(name) ?? 0 }, hits: [] } };
  };
  return { search: (searches) => Promise.all(searches.map(answer)) };
}

function loadRequest(searches: readonly Search[]): LoadRequest {
  return { method: 'POST', ...searchRequest(searches) };
}

function readOnly(reader: ElasticsearchReader): ReadIndex {
  return {
    ...reader,
    apply: () => Promise.reject(new Error('read only')),
    position: () => 0n,
    close: async () => {},
  };
}

function missing(uid: string): never {
  throw new Error(`${uid} has no index`);
}
