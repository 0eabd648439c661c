import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { loadReadIndex } from '../../projections/graph/projector.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';

type Sink = Pick<ReadIndex, 'apply'>;

/**
 * Rows as they were before each change, in memory: which tags a change has follows from these, and documents in Elasticsearch are
 * elsewhere. `sink` brings them up to date after what it is made of.
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
