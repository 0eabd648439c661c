import type { ContentGraph } from '../../projections/content-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { epochAfter, isFenced } from '../../shared/fleet/fence.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** The content types that are in force at the end of the log, for a graph that stays where it is. */
export type DefinitionsAhead = Pick<
  ContentGraph,
  'position' | 'readFrom' | 'definition' | 'replay' | 'reopen'
>;

type GraphBehind = Pick<ContentGraph, 'position' | 'definition' | 'epochAt'>;

export function createDefinitionsAhead(graph: GraphBehind): DefinitionsAhead {
  const defined = new Map<string, string>();
  let position = graph.position();
  let epoch = graph.epochAt(position);
  return {
    position: () => position,
    readFrom: () => position,
    reopen: () => {},
    definition: (uid) => defined.get(uid) ?? graph.definition(uid),
    replay(events: readonly StoredEvent[]) {
      for (const event of events) {
        position = event.position;
        epoch = epochAfter(epoch, event);
        if (event.type !== 'content-type-defined' || isFenced(event, epoch)) continue;
        const definition = event.data as TypeDefinition;
        defined.set(definition.uid, JSON.stringify(definition));
      }
    },
  };
}
