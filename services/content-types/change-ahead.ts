import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { ConvertedCopy } from '../../projections/graph/converted-copy.ts';
import { catchUpUnlessDiskFull } from '../../projections/graph/projector.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { ServedGenerations } from '../read-side/served-generations.ts';
import { isDefinition, notInForce, trackDefinitions } from './definitions-in-force.ts';
import type { SettleOptions } from './settle-content-types.ts';
import { isContent } from './types-end.ts';

export type ChangeAheadOptions = {
  readonly log: EventStore;
  /** The graph, with the content types in force. */
  readonly graph: ContentGraph;
  /** undefined: the graph converts its rows itself. */
  readonly converted: ConvertedCopy | undefined;
  readonly definitions: readonly TypeDefinition[];
  readonly generations: Pick<ServedGenerations, 'openConverted' | 'closeReadSide'>;
};

/** If fewer rows than this are left, another round gains nothing, because other processes write in the meantime. */
const FEW_ROWS = 200;
const MOST_ROUNDS = 20;

/**
 * Loads the index from the converted copy, while another process serves. Resolves when the index lacks only a few of that process's writes.
 * The copy replaces the graph when the definitions arrive, and only if they are the ones to which it was converted.
 */
export async function changeAhead(options: ChangeAheadOptions) {
  const { log, graph, converted, definitions, generations } = options;
  if (converted === undefined) return { graph, finish: async () => {} };
  converted.catchUp();
  const { sink } = await generations.openConverted(converted.graph);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    await catchUpUnlessDiskFull(log, graph);
    const change = converted.catchUp();
    await sink.apply(change);
    if (change.rows.length < FEW_ROWS) break;
  }
  let isReplaced = false;
  const lateChanges: ChangeBatch[] = [];
  const replace = (events: readonly StoredEvent[]): void => {
    if (!bringIntoForce(events, graph, definitions)) return;
    lateChanges.push(converted.catchUp());
    converted.replace();
    isReplaced = true;
  };
  const ahead: SettleOptions['graph'] = {
    position: graph.position,
    readFrom: graph.readFrom,
    definition: graph.definition,
    reopen: graph.reopen,
    replay(events, upTo) {
      const at = isReplaced ? -1 : events.findIndex(isDefinition);
      graph.replay(events.slice(0, Math.max(at, 0)));
      if (at >= 0) replace(events.slice(at));
      const rest = events.slice(Math.max(at, 0));
      if (isReplaced) lateChanges.push(graph.apply(rest, upTo));
      else graph.replay(rest, upTo);
    },
  };
  return {
    /** Applies the log in place of the graph until the content types are settled. */
    graph: ahead,
    /** Called when the content types are settled. Brings the missing changes into the index. */
    async finish(): Promise<void> {
      if (isReplaced) {
        for (const change of lateChanges) await sink.apply(change);
        return;
      }
      await generations.closeReadSide();
      converted.discard();
    },
  };
}

/** Returns whether these events bring all of these definitions, and no others, into force before they change content. */
function bringIntoForce(
  events: readonly StoredEvent[],
  graph: ContentGraph,
  definitions: readonly TypeDefinition[],
): boolean {
  const inForce = trackDefinitions(graph.epochAt(graph.position() + 1n), graph.definition);
  for (const event of events) {
    if (isContent(event)) return false;
    const redefined = inForce.apply(event);
    if (redefined === undefined) continue;
    if (!definitions.some(({ uid }) => uid === redefined.now.uid)) return false;
    if (notInForce(definitions, inForce.text).length === 0) return true;
  }
  return false;
}
