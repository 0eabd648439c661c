import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { documentName, staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import type { StaleRow } from '../../projections/graph/stale/stale-rows.ts';
import { createLayout } from '../../shared/read-index/elasticsearch/layout/create-layout.ts';
import { dependenciesOf } from '../../shared/read-index/elasticsearch/layout/dependencies.ts';
import type {
  DenormaliseSettings,
  DocumentLayout,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { WORLDS } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { documentText } from './document-text.ts';

/** The documents of a graph, as an index with these settings has them. */
export function createGraphDocuments(settings: DenormaliseSettings) {
  const layouts = (registry: SchemaRegistry) =>
    [...registry.contentTypes.keys()].map((type) => createLayout(registry, type, settings));
  return {
    dependencies: (registry: SchemaRegistry) => layouts(registry).flatMap(dependenciesOf),
    /** Returns every document as text, by name. */
    all(graph: ContentGraph): Map<string, string> {
      const byType = new Map(layouts(graph.registry()).map((layout) => [layout.type, layout]));
      const documents = new Map<string, string>();
      for (const { rows } of graph.readAll()) {
        for (const { type, key, version } of rows) {
          for (const world of version === 'live' ? WORLDS : [version]) {
            const document = { type, key, world, since: 0, position: 0 };
            const text = textOf(graph, byType.get(type), document);
            if (text !== undefined) documents.set(documentName(document), text);
          }
        }
      }
      return documents;
    },
  };
}

function textOf(
  graph: ContentGraph,
  layout: DocumentLayout | undefined,
  document: StaleRow,
): string | undefined {
  const { neighbours } = graph.stale?.read(document) ?? {};
  const row = neighbours?.row(document.type, document.key);
  if (layout === undefined || neighbours === undefined || row === undefined) return undefined;
  return documentText(layout, document.key, row, neighbours);
}

/** Returns the types and worlds in which the graph counts other documents than its file has rows. */
export function miscounted(graph: ContentGraph): readonly string[] {
  const stale = staleDocumentsOf(graph);
  const rows = [...stale.all()];
  return [...graph.registry().contentTypes.keys()].flatMap((type) =>
    WORLDS.flatMap((world) => {
      const { length } = rows.filter((row) => row.type === type && row.world === world);
      const counted = stale.counted(type, world);
      return counted?.least === length && counted.most === length ? [] : `${type} ${world}`;
    }),
  );
}

/** Takes all stale documents of a graph as written, and returns them. */
export function takeAll(graph: ContentGraph): StaleRow[] {
  const none = new Map<number, number>();
  const documents = (['edits', 'copies', 'backlog'] as const).flatMap((lane) => [
    ...(graph.stale?.next(lane, 100_000, none) ?? []),
  ]);
  const position = graph.position();
  graph.stale?.settle(
    position,
    documents.map((document) => ({ document, refused: undefined })),
  );
  return documents;
}
