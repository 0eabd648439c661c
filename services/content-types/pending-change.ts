import { documentChanges, type ShapeChange } from '../../projections/generations/shape.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { OutsideIndices } from '../read-side/outside-indices.ts';
import { type Redefined, trackDefinitions } from './definitions-in-force.ts';

/** Content types are to change so that what reads are answered from has to be converted. */
type PendingChange = {
  /** The last position at which the graph is as it is served. */
  readonly before: bigint;
  readonly changes: readonly ShapeChange[];
};

/** A pending change of a data directory that is open, and whose index is outside the process. */
export type OpenedChange = {
  readonly changes: readonly ShapeChange[];
  /** The indices that serve by the earlier content types. */
  readonly indices: IndexSet;
  /** Brings the graph as far as it can come by the earlier content types. */
  readonly catchUp: () => Promise<void>;
};

/**
 * Brings the graph as far as it can come without being converted, and resolves to what is to change; undefined where it needs no
 * conversion, or nothing that it could be read from meanwhile is there.
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

/** The live indices, where they are all there and of the graph's content types. */
async function wholeSet(
  outside: OutsideIndices,
  graph: ContentGraph,
  log: EventStore,
): Promise<IndexSet | undefined> {
  const sets = await outside.open(graph.registry(), log);
  try {
    const live = await sets.live();
    return (await sets.fits(live)) ? live : undefined;
  } finally {
    await sets.close();
  }
}

/**
 * Returns the changes by definitions that the graph has not applied yet: those of the log, then those of this process. undefined: no
 * row and no document has to be converted. The graph is not changed.
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
  for await (const events of log.readAll(position)) {
    for (const event of events) {
      // Nothing is converted for what is behind it: the graph cannot go there.
      if (stopsReaders(event)) return undefined;
      const redefined = inForce.apply(event);
      if (redefined !== undefined) changes.push(...changesOf(redefined));
      if (changes.length > 0) before ??= position;
      position = event.position;
    }
  }
  changes.push(...definitions.flatMap((now) => changesOf({ before: inForce.text(now.uid), now })));
  return changes.length === 0 ? undefined : { before: before ?? position, changes };
}
