import { existsSync } from 'node:fs';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { defineAhead } from '../../projections/graph/converted-copy.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { checkHistory } from '../../projections/graph/store/check-history.ts';
import { PROJECTOR_VERSION } from '../../projections/graph/store/projector-version.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';

export type PastGraphOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** File of the graph that is made. It must not exist. */
  readonly file: string;
  /** The last position that is applied. */
  readonly position: bigint;
  /** Earlier graphs, the latest first. Those that do not fit are skipped. */
  readonly bases: readonly string[];
  /** Names of the content types in force now. */
  readonly types: readonly string[];
};

/**
 * Makes a graph that ends at a position, with the content types of now: later definitions are applied to it in their order. Begins with a
 * copy of an earlier graph, or with the first event of the log. Rejects if the log has events that this program cannot read.
 */
export async function makePastGraph(options: PastGraphOptions): Promise<void> {
  const { log, file, position } = options;
  const base = await copyFirst(options);
  const graph = openContentGraph(file, { building: base === undefined });
  try {
    await catchUpOrThrow(log, graph, { until: position });
    graph.settle();
    // The replay of a later graph ends at once, without an error.
    if (graph.position() > position) throw new Error(`the graph is already at position ${graph.position()}`);
    defineAhead(graph, await laterDefinitions(options));
  } finally {
    graph.close();
  }
}

/** Copies the first graph that fits. Resolves with its file; undefined if there is none. */
async function copyFirst({ bases, log, file, position }: PastGraphOptions): Promise<string | undefined> {
  for (const base of bases) {
    if (!existsSync(base)) continue;
    copyDatabase(base, file);
    if (await fits(log, file, position)) return base;
    removeDatabase(file);
  }
  return undefined;
}

/** Returns whether a graph has applied the beginning of this log, and nothing after a position. */
async function fits(log: EventStore, file: string, position: bigint): Promise<boolean> {
  const graph = openContentGraph(file);
  try {
    const at = graph.position();
    if (at > position || graph.projectorVersion() !== PROJECTOR_VERSION) return false;
    const applied = { position: at, last: graph.lastEvent(), samples: [] };
    return (await checkHistory(log, applied)).kind === 'same';
  } finally {
    graph.close();
  }
}

/** Returns the definitions after the position that have an effect, in the order of the log. */
async function laterDefinitions({ log, space, position, types }: PastGraphOptions) {
  const { stream } = createEffectiveEvents(log, space);
  const later: StoredEvent[] = [];
  for (const type of types)
    for await (const event of stream(definitionStream(space, type))) {
      refuseUnreadable(event);
      if (event.position > position) later.push(event);
    }
  later.sort((a, b) => (a.position < b.position ? -1 : 1));
  return later.map(({ data }) => data as TypeDefinition);
}
