import { answerList } from '../../services/query/answer-list.ts';
import { planList } from '../../services/query/plan-query.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/client.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/create-layouts.ts';
import {
  createElasticsearchReader,
  type ElasticsearchReader,
} from '../../shared/read-index/elasticsearch/elasticsearch-reader.ts';
import { createIndexNames } from '../../shared/read-index/elasticsearch/index-names.ts';
import {
  createSearchEngine,
  type Search,
  searchRequest,
} from '../../shared/read-index/elasticsearch/search-engine.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { LoadRequest } from './measure-load.ts';

/** What Varve sends to Elasticsearch for a path, in order. */
export type RawSearches = {
  of(path: string): Promise<readonly LoadRequest[]>;
  close(): Promise<void>;
};

export type RawSearchesOptions = {
  readonly url: string;
  readonly space: string;
  readonly registry: SchemaRegistry;
};

const NOT_LIMITED = Number.MAX_SAFE_INTEGER;

/** Carries out the requests of paths in this process, with Varve's own code, and tells what was sent for each. */
export function createRawSearches({ url, space, registry }: RawSearchesOptions): RawSearches {
  const client = createElasticsearchClient({ url });
  const layouts = createLayouts(registry);
  const reader = createElasticsearchReader({
    // Only explained here: under their aliases.
    indices: { get: () => ({}), refresh: async () => ({}) },
    engine: createSearchEngine(client),
    names: createIndexNames(space),
    layouts: (uid) => layouts.get(uid) ?? missing(uid),
    semiJoinLimit: NOT_LIMITED,
    sortLimit: NOT_LIMITED,
  });
  return {
    async of(path) {
      const { pathname, search } = new URL(path, url);
      const plural = pathname.split('/').at(-1);
      const type = [...registry.contentTypes.values()].find(({ pluralName }) => pluralName === plural);
      if (type === undefined) throw new Error(`${path} is no collection`);
      const queryString = `${search.slice(1)}&explain=true`;
      const request = { registry, type, queryString, defaultLocale: 'en', mayExplain: true };
      const plan = planList(request);
      const answer = await answerList(readOnly(reader), plan);
      return (JSON.parse(answer.toString()) as Explained).meta.explain.engine.requests.map(loadRequest);
    },
    close: () => client.close(),
  };
}

type Explained = {
  readonly meta: {
    readonly explain: { readonly engine: { readonly requests: readonly (readonly Search[])[] } };
  };
};

function loadRequest([first, ...others]: readonly Search[]): LoadRequest {
  if (first === undefined) throw new Error('a request without a search');
  return { method: 'POST', ...searchRequest(first, others) };
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
