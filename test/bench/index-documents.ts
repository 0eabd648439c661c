import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { RowChange } from '../../shared/read-index/read-index.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import type { Document } from './collections.ts';

/** The ids of the first ten documents that a query finds, best first. */
export type SearchDocuments = (query: string) => Promise<readonly string[]>;

const TYPE = 'api::document.document';

/** Puts documents into an embedded index, in the content type that a user would make of them. */
export async function indexDocuments(documents: readonly Document[]): Promise<SearchDocuments> {
  const index = createEmbeddedIndex({ registry: documentRegistry() });
  const rows = documents.map(({ id, title, body }, at): RowChange => {
    const fields = { id: at + 1, documentId: id, title, body };
    return {
      type: TYPE,
      version: 'live',
      key: at + 1,
      row: { source: Buffer.from(id), fields, components: {} },
    };
  });
  await index.apply({ position: 1n, rows, links: [] });
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
