import { documentChanges, type ShapeChange } from '../../projections/generations/shape.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { eventsAfter } from '../../shared/event-store/events-after.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { NO_DIRECTORY, type OutsideIndices } from '../read-side/outside-indices.ts';
import { type Redefined, trackDefinitions } from './definitions-in-force.ts';

/** A change of content types for which rows or documents have to be converted. */
type PendingChange = {
  /** The last position that the graph can reach without being converted. */
  readonly before: bigint;
  readonly changes: readonly ShapeChange[];
};

/** A pending change of a data directory that is open, and whose index is outside the process. */
export type OpenedChange = {
  readonly changes: readonly ShapeChange[];
  /** The indices of the earlier content types, which answer reads. */
  readonly indices: IndexSet;
  /** Applies the log to the graph as far as the earlier content types allow. */
  readonly catchUp: () => Promise<void>;
};

/**
 * Applies the log to the graph as far as possible without a conversion, and resolves to the pending change. Resolves to undefined if no
 * conversion is needed, or if no complete indices could answer reads in the meantime.
 */
export async function openPendingChange(
  log: EventStore,
  graph: ContentGraph,
  definitions: readonly TypeDefinition[],
  outside: OutsideIndices,
): Promise<OpenedChange | undefined> {
  const comeNear = async () => {
    const found = await findPendingChange(log, graph, definitions);
    if (found !== undefined) await catchUp(log, graph, { until: found.before });
    return found;
  };
  const pending = await comeNear();
  if (pending === undefined) return undefined;
  const indices = await wholeSet(outside, graph, log);
  if (indices === undefined) return undefined;
  return { changes: pending.changes, indices, catchUp: async () => void (await comeNear()) };
}

/** Returns the live indices if they are complete and have the content types of the graph. */
async function wholeSet(
  outside: OutsideIndices,
  graph: ContentGraph,
  log: EventStore,
): Promise<IndexSet | undefined> {
  const sets = await outside.open(graph.registry(), log, NO_DIRECTORY);
  try {
    const live = await sets.live();
    return (await sets.fits(live)) ? live : undefined;
  } finally {
    await sets.close();
  }
}

/**
 * Returns the changes by definitions that the graph has not applied yet: those of the log, then those of this process. Returns undefined if
 * no row and no document has to be converted. Does not change the graph.
 */
async function findPendingChange(
  log: EventStore,
  graph: Pick<ContentGraph, 'position' | 'definition' | 'epochAt'>,
  definitions: readonly TypeDefinition[],
): Promise<PendingChange | undefined> {
  let position = graph.position();
  const inForce = trackDefinitions(graph.epochAt(position), graph.definition);
  const changesOf = ({ before, now }: Redefined): readonly ShapeChange[] =>
    before === undefined ? [] : documentChanges(JSON.parse(before) as TypeDefinition, now);
  const changes: ShapeChange[] = [];
  let before: bigint | undefined;
  for await (const event of eventsAfter(log, position)) {
    // The graph cannot pass this event, so nothing is converted for later events.
    if (stopsReaders(event)) return undefined;
    const redefined = inForce.apply(event);
    if (redefined !== undefined) changes.push(...changesOf(redefined));
    if (changes.length > 0) before ??= position;
    position = event.position;
  }
  changes.push(...definitions.flatMap((now) => changesOf({ before: inForce.text(now.uid), now })));
  return changes.length === 0 ? undefined : { before: before ?? position, changes };
}
