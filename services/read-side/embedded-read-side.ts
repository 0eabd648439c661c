import { loadReadIndex } from '../../projections/graph/projector.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import { addSynonyms, type InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import type { ReadSidePlan } from './read-side.ts';

/** Returns the plan for an index inside this process. */
export function embeddedReadSide({
  synonyms = {},
  ...options
}: Pick<EmbeddedIndexOptions, 'queryTimeLimit'> & {
  readonly synonyms?: InstalledSynonyms;
}): ReadSidePlan {
  return {
    graph: {},
    async open(graph) {
      // The index has the types of the graph, including those that are in the log and no longer in the folder.
      const index = createEmbeddedIndex({ ...options, registry: addSynonyms(graph.registry(), synonyms) });
      await loadReadIndex(graph, index);
      // Never rejects.
      void index.local.warm();
      const closed = Promise.withResolvers<void>();
      return {
        index,
        sink: index,
        visible: async () => {},
        shows: async () => true,
        contents: () => ({ kind: 'rows', content: index.content }),
        announce: () => {},
        lead: async () => true,
        standBy: async () => true,
        writesHere: () => true,
        retire: async () => {},
        done: closed.promise,
        async close() {
          await index.close();
          closed.resolve();
        },
      };
    },
  };
}
