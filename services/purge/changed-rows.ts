import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { loadReadIndex } from '../../projections/graph/projector.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';

type Sink = Pick<ReadIndex, 'apply'>;

/**
 * Rows in memory, as they were before each change. The tags of a change follow from them, and the documents in Elasticsearch are not in
 * this process. `sink` passes a batch on, and then updates these rows.
 */
export async function openChangedRows(
  graph: Pick<ContentGraph, 'registry' | 'readAll'>,
  sink: Sink,
): Promise<{ readonly rows: ReadIndex; readonly sink: Sink }> {
  const rows = createEmbeddedIndex({ registry: graph.registry() });
  await loadReadIndex(graph, rows);
  return {
    rows,
    sink: {
      async apply(batch) {
        await sink.apply(batch);
        await rows.apply(batch);
      },
    },
  };
}
