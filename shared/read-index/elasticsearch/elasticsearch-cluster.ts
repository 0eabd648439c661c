import { errors } from '@elastic/elasticsearch';
import type { SchemaRegistry } from '../../schema/schema-registry.ts';
import type { Dependency, DocumentIndex } from '../document-index.ts';
import type { ProgressStore } from '../index-progress.ts';
import type { StoredDocuments } from '../stored-documents.ts';
import { createElasticsearchClient, type ElasticsearchConnection } from './client.ts';
import { createLayouts } from './create-layouts.ts';
import { dependenciesOf } from './dependencies.ts';
import type { DocumentLayout } from './document-layout.ts';
import { createDocumentWriter } from './document-writer.ts';
import { createElasticsearchReader, type ElasticsearchReader } from './elasticsearch-reader.ts';
import { createIndexNames } from './index-names.ts';
import { areWhole, type IndexSpread, type OpenedIndices, openIndices } from './open-indices.ts';
import { createProgressDocument, openProgressIndex } from './progress-document.ts';
import { readStoredDocuments } from './read-stored-documents.ts';
import { createSearchEngine } from './search-engine.ts';

/** A cluster as the home of one space's indices. */
export type ElasticsearchCluster = {
  readonly reader: ElasticsearchReader;
  readonly stored: StoredDocuments;
  /** Begins with everything unrefreshed, whoever wrote it. */
  createWriter(): DocumentIndex;
  /** How far the documents are level with a log. */
  progress(log: string): ProgressStore;
  /** Resolves when the cluster answers and what is there of the space's indices can be searched. See `isPassing`. */
  ready(): Promise<void>;
  /** For the one process that writes. */
  openIndices(options: { readonly log: string; readonly anew: boolean }): Promise<OpenedIndices>;
  /** Whether reads find an index for every content type, made from this log and for these types. */
  isWhole(log: string): Promise<boolean>;
  close(): Promise<void>;
};

export type ElasticsearchClusterOptions = {
  readonly connection: ElasticsearchConnection;
  readonly space: string;
  readonly registry: SchemaRegistry;
  /** Default: one shard, no replicas. */
  readonly spread?: IndexSpread;
};

const ONE_SHARD: IndexSpread = { shards: 1, replicas: undefined };
const SEMI_JOIN_LIMIT = 1_000_000;
const SORT_LIMIT = 10_000;
const READY_WITHIN = '10s';

/** Connects to nothing yet. Throws a sentence when a content type does not fit into an index. */
export function createElasticsearchCluster(options: ElasticsearchClusterOptions): ElasticsearchCluster {
  const { connection, space, registry } = options;
  const layouts = createLayouts(registry);
  const client = createElasticsearchClient(connection);
  const names = createIndexNames(space);
  const layoutOf = (type: string): DocumentLayout => {
    const layout = layouts.get(type);
    if (layout === undefined) throw new Error(`content type ${type} has no index`);
    return layout;
  };
  return {
    reader: createElasticsearchReader({
      engine: createSearchEngine(client),
      names,
      layouts: layoutOf,
      semiJoinLimit: SEMI_JOIN_LIMIT,
      sortLimit: SORT_LIMIT,
    }),
    createWriter: () => createDocumentWriter({ client, names, layouts: layoutOf, types: layouts.keys() }),
    progress: (log) => createProgressDocument({ client, space, log }),
    stored: readStoredDocuments(client, names),
    async ready() {
      const health = { index: `${space}-*`, wait_for_status: 'yellow', timeout: READY_WITHIN } as const;
      await client.cluster.health(health, { maxRetries: 0 });
    },
    async openIndices({ log, anew }) {
      await openProgressIndex(client, space);
      return openIndices({
        ...{ client, names, space, layouts: [...layouts.values()], log, anew },
        spread: options.spread ?? ONE_SHARD,
      });
    },
    isWhole: (log) => areWhole({ client, names, space, layouts: [...layouts.values()], log }),
    close: () => client.close(),
  };
}

/** What the documents of all content types show beside their own rows. */
export function documentDependencies(registry: SchemaRegistry): readonly Dependency[] {
  return [...createLayouts(registry).values()].flatMap(dependenciesOf);
}

/** True for a failure that time or an operator mends; false when the cluster understood the request and refuses it. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof errors.ResponseError)) return error instanceof errors.ElasticsearchClientError;
  const status = error.statusCode ?? 500;
  return status >= 500 || status === 429 || status === 408;
}
