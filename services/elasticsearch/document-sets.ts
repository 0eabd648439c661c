import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ElasticsearchConnection } from '../../shared/read-index/elasticsearch/client.ts';
import type { IndexSpread } from '../../shared/read-index/elasticsearch/create-index.ts';
import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { DocumentSets } from '../read-side.ts';
import { nameOfLog } from './name-of-log.ts';

export type DocumentSetsOptions = {
  readonly connection: ElasticsearchConnection;
  readonly spread: IndexSpread;
  readonly space: string;
  /** Of the content types that the indices are for. */
  readonly registry: SchemaRegistry;
  readonly log: EventStore;
};

/** The sets of indices of a space. Nothing is asked of the cluster yet. */
export async function openDocumentSets({ log, ...options }: DocumentSetsOptions): Promise<DocumentSets> {
  const cluster = createElasticsearchCluster(options);
  const { live, plan, make, promote, remove } = cluster.sets(await nameOfLog(log));
  return {
    ...{ live, plan, promote, remove },
    async make(set) {
      await make(set);
      await cluster.ready();
    },
    documents(set) {
      cluster.use(set);
      return { index: cluster.createWriter(), stored: cluster.stored };
    },
    close: cluster.close,
  };
}
