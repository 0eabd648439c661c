import { existsSync } from 'node:fs';
import { lookAtGenerations } from '../../../projections/generations/generation-store.ts';
import {
  type ContentGraph,
  lookAtContentGraph,
  openEmptyGraph,
} from '../../../projections/graph/content-graph.ts';
import { damageMark, graphFile } from '../../../projections/graph/store/generation-files.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { isDirectoryLocked } from '../../../shared/sqlite/lock-data-directory.ts';
import type { LookedHere } from '../../operator/open-operations.ts';
import type { LookContext } from '../../operator/operation.ts';
import { runLook } from '../../operator/operations.ts';
import type { ReadSide, ReadSidePlan } from '../../read-side/read-side.ts';
import { logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { quietLogger } from '../output/create-logger.ts';
import { chooseReadSide } from '../settings/read-side.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { refuseOtherLog } from './refuse-other-log.ts';

/**
 * Opens a data directory without a server for commands that only look. Every file is opened for reading, and nothing of the directory, its
 * log or its indices changes. Rejects with a message if the directory was made from another log than the settings name.
 */
export async function lookHere(settings: OperatorSettings): Promise<LookedHere> {
  const { data, space } = settings;
  const plan = await chooseReadSide(settings, await quietLogger());
  const log = await openEventStore(logAddress(settings), { space, decode: upcast, reads: 'look' });
  const store = lookAtGenerations(data);
  const { graph, unusable } = openGraph(graphFile(data, store.live().number), plan);
  await refuseOtherLog(settings, log, graph).catch(async (error: unknown) => {
    await Promise.allSettled([log.close(), graph.close(), store.close()]);
    throw error;
  });
  let readSide: Promise<ReadSide> | undefined;
  const context: LookContext = {
    space,
    log,
    graph,
    generations: { store },
    server: undefined,
    schemaWarnings: [],
    codeNotes: [],
    unusable,
    readSide() {
      readSide ??= plan.open(graph, log, { kind: 'live' });
      return readSide;
    },
  };
  return {
    run: (name, request, signal) => runLook(context, name, request, signal),
    async close() {
      await readSide?.then((opened) => opened.close());
      for (const part of [graph, store, log]) await part.close();
      if (readSide !== undefined && isDirectoryLocked(data))
        throw new Error(`a server has started on ${data} meanwhile: run this command again`);
    },
  };
}

/** Opens the graph. A file that the next start replaces or upgrades is shown as an empty graph, with the reason. */
function openGraph(
  file: string,
  { graph: options }: ReadSidePlan,
): { readonly graph: ContentGraph; readonly unusable: string | undefined } {
  if (!existsSync(file)) return { graph: openEmptyGraph(), unusable: undefined };
  try {
    if (existsSync(damageMark(file))) throw new Error(`${file} is damaged`);
    return { graph: lookAtContentGraph(file, options), unusable: undefined };
  } catch (error) {
    return { graph: openEmptyGraph(), unusable: (error as Error).message };
  }
}
