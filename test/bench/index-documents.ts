import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { type ReadIndex, type RowChange, WORLDS } from '../../shared/read-index/read-index.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import type { Document } from './collections.ts';

/** The ids of the first ten documents that a query finds, best first. */
export type SearchDocuments = (query: string) => Promise<readonly string[]>;

/** Documents that can be searched until `close`. */
export type IndexedDocuments = { readonly search: SearchDocuments; readonly close: () => Promise<void> };

const TYPE = 'api::document.document';

/** Puts documents into an embedded index, in the content type that a user would make of them. */
export async function indexDocuments(documents: readonly Document[]): Promise<IndexedDocuments> {
  const index = createEmbeddedIndex({ registry: documentRegistry() });
  await index.apply({ position: 1n, rows: documents.map(changeOf), links: [] });
  return { search: searchIn(index), close: () => index.close() };
}

const DOCUMENTS_AT_ONCE = 500;

/** Puts documents into new indices on an Elasticsearch, which `close` removes. */
export async function sendDocuments(documents: readonly Document[], url: string): Promise<IndexedDocuments> {
  const registry = documentRegistry();
  const space = `relevance_${process.pid}_${documents.length}`;
  const cluster = createElasticsearchCluster({ connection: { url }, space, registry });
  const opened = await cluster.openIndices({ log: space, replaceAll: true, distrusted: [], epoch: 1 });
  cluster.use(opened.set);
  const writer = cluster.createWriter();
  const rows = new Map(documents.map((each, at) => [at + 1, changeOf(each, at).row]));
  const neighbours = { linked: () => [], row: (_: string, key: number) => rows.get(key) ?? undefined };
  const made = [...rows.keys()].flatMap((key) =>
    WORLDS.map((world) => writer.present({ type: TYPE, world, key, position: 1n }, neighbours)),
  );
  for (let at = 0; at < made.length; at += DOCUMENTS_AT_ONCE)
    await writer.write(made.slice(at, at + DOCUMENTS_AT_ONCE), { refresh: false });
  await writer.refresh();
  return {
    search: searchIn(cluster.reader),
    async close() {
      await cluster.close();
      for (const index of Object.values(opened.set)) await fetch(`${url}/${index}`, { method: 'DELETE' });
    },
  };
}

function changeOf({ id, title, body }: Document, at: number): RowChange {
  const fields = { id: at + 1, documentId: id, title, body };
  const row = { source: Buffer.from(id), fields, components: {} };
  return { type: TYPE, version: 'live', key: at + 1, row };
}

function searchIn(index: Pick<ReadIndex, 'search'>): SearchDocuments {
  return async (query) => {
    const text = { query, locales: 'all', typoTolerance: true, isRanked: true } as const;
    const { hits } = await index.search({
      ...{ type: TYPE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 10 },
      withTotal: false,
      text,
    });
    return hits.sources.map((source) => Buffer.from(source).toString());
  };
}

function documentRegistry() {
  const { registry, problems } = buildRegistry([
    {
      model: 'contentType',
      file: 'document.json',
      namespace: 'api::document',
      json: {
        kind: 'collectionType',
        info: { singularName: 'document', pluralName: 'documents', displayName: 'Document' },
        attributes: { title: { type: 'string' }, body: { type: 'text' } },
      },
    },
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return registry;
}
