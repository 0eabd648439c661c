import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { trackDefinitions } from './definitions-in-force.ts';

/** The content types that are in force at the end of the log, for a graph that stays where it is. */
export type DefinitionsAhead = Pick<
  ContentGraph,
  'position' | 'readFrom' | 'definition' | 'replay' | 'reopen'
>;

type GraphBehind = Pick<ContentGraph, 'position' | 'definition' | 'epochAt'>;

/** Starts at the graph's position with its definitions. `replay` moves on from there and leaves the graph alone. */
export function createDefinitionsAhead(graph: GraphBehind): DefinitionsAhead {
  let position = graph.position();
  const inForce = trackDefinitions(graph.epochAt(position), graph.definition);
  return {
    position: () => position,
    readFrom: () => position,
    reopen: () => {},
    definition: inForce.text,
    replay(events: readonly StoredEvent[]) {
      for (const event of events) {
        position = event.position;
        inForce.apply(event);
      }
    },
  };
}
