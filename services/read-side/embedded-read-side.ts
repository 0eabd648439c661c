import { loadReadIndex } from '../../projections/graph/projector.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import { addSynonyms, type InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import { type ReportSnapshot, restoreIndex, saveIndex } from './index-snapshot.ts';
import type { ReadSidePlan } from './read-side.ts';

/** Rows from which a snapshot is worth its file: fewer are loaded from the graph in a fifth of a second. */
const SAVED_ROWS = 20_000;

/**
 * Returns the plan for an index inside this process. `savedRows`: number of rows from which a stop saves the index for the next start.
 * `report`: called with errors of snapshots.
 */
export function embeddedReadSide({
  synonyms = {},
  savedRows = SAVED_ROWS,
  report = () => {},
  ...options
}: Pick<EmbeddedIndexOptions, 'queryTimeLimit'> & {
  readonly synonyms?: InstalledSynonyms;
  readonly savedRows?: number;
  readonly report?: ReportSnapshot;
}): ReadSidePlan {
  return {
    graph: {},
    async open(graph, log) {
      // The index has the types of the graph, including those that are in the log and no longer in the folder.
      const create = () =>
        createEmbeddedIndex({ ...options, registry: addSynonyms(graph.registry(), synonyms) });
      let index = create();
      if (!(await restoreIndex(index, { graph, log, report }))) {
        index = create();
        await loadReadIndex(graph, index);
      }
      let isReplaced = false;
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
        // The process that serves next has a graph of its own.
        async retire() {
          isReplaced = true;
        },
        done: closed.promise,
        async close() {
          await index.close();
          if (!isReplaced && graph.size().rows >= savedRows) saveIndex(index, { graph, report });
          closed.resolve();
        },
      };
    },
  };
}
