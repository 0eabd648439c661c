import type { ContentGraph } from '../../projections/content-graph.ts';
import { type ShapeChange, shapeChanges } from '../../projections/generations/shape.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { epochAfter, isFenced } from '../../shared/fleet/fence.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** Content types are to change so that the graph's rows have to be converted. */
export type PendingChange = {
  /** The last position at which the graph is as it is served. */
  readonly before: bigint;
  readonly changes: readonly ShapeChange[];
};

/**
 * What the definitions that are in the log and not in the graph yet, and then those of this process, change of the graph's shape;
 * undefined: nothing that rows would have to follow. The graph is not touched.
 */
export async function findPendingChange(
  log: EventStore,
  graph: Pick<ContentGraph, 'position' | 'definition' | 'epochAt'>,
  definitions: readonly TypeDefinition[],
): Promise<PendingChange | undefined> {
  const known = new Map<string, TypeDefinition>();
  const changesOf = (now: TypeDefinition): readonly ShapeChange[] => {
    const text = graph.definition(now.uid);
    const before =
      known.get(now.uid) ?? (text === undefined ? undefined : (JSON.parse(text) as TypeDefinition));
    known.set(now.uid, now);
    return before === undefined ? [] : shapeChanges(before, now);
  };
  let position = graph.position();
  const changes: ShapeChange[] = [];
  let before: bigint | undefined;
  let epoch = graph.epochAt(position);
  for await (const events of log.readAll(position)) {
    for (const event of events) {
      epoch = epochAfter(epoch, event);
      if (event.type === 'content-type-defined' && !isFenced(event, epoch))
        changes.push(...changesOf(event.data as TypeDefinition));
      if (changes.length > 0) before ??= position;
      position = event.position;
    }
  }
  changes.push(...definitions.flatMap(changesOf));
  return changes.length === 0 ? undefined : { before: before ?? position, changes };
}
