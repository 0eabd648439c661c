import type { ContentGraph, ContentGraphOptions } from '../projections/content-graph.ts';
import type { WriterStatus } from '../projections/index-writer.ts';
import { loadReadIndex } from '../projections/projector.ts';
import type { EventStore } from '../shared/event-store/event-store.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../shared/read-index/read-index.ts';

/** Where reads are answered, and how it is kept level with the graph. */
export type ReadSide = {
  readonly index: ReadIndex;
  /** Told of every batch of changes, after the graph. */
  readonly sink: Pick<ReadIndex, 'apply'>;
  /** Resolves when reads show everything up to a position; undefined where they do once the sink was told. */
  readonly visible: ((position: bigint) => Promise<void>) | undefined;
  /** Of documents that are out of date, where there are documents. */
  readonly status: (() => WriterStatus) | undefined;
  /** Rejects when the index cannot be kept level any more. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** A kind of read side: what it asks of the graph, and how it is opened once that is level with the log. */
export type ReadSidePlan = {
  readonly graph: ContentGraphOptions;
  open(graph: ContentGraph, log: EventStore): Promise<ReadSide>;
};

/** The index inside this process. */
export function embeddedReadSide(options: Pick<EmbeddedIndexOptions, 'queryTimeLimit'>): ReadSidePlan {
  return {
    graph: {},
    async open(graph) {
      // What the graph holds, types that are in the log and no more in the folder included.
      const index = createEmbeddedIndex({ ...options, registry: graph.registry() });
      await loadReadIndex(graph, index);
      void index.warm?.();
      const closed = Promise.withResolvers<void>();
      return {
        index,
        sink: index,
        visible: undefined,
        status: undefined,
        done: closed.promise,
        async close() {
          await index.close();
          closed.resolve();
        },
      };
    },
  };
}
