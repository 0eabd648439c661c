import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ContentGraph } from './content-graph.ts';

type Log = Pick<EventStore, 'historyAt'>;
type Searched = Pick<ContentGraph, 'unnamed' | 'nameSearched'>;
type Hold = (work: () => Promise<void>) => Promise<void>;

/**
 * Names the history of the log up to the position that a graph has searched, now and then. An older copy of a log may lack only records of
 * other applications. The last applied event does not show that, and events that take their place would be missed. `hold` runs a write to
 * the graph.
 */
export async function nameSearched(log: Log, graph: Searched, hold: Hold = (work) => work()): Promise<void> {
  const at = graph.unnamed();
  const history = at === undefined ? undefined : await log.historyAt(at);
  if (at !== undefined && history !== undefined) await hold(async () => graph.nameSearched(at, history));
}

/** Creates the function that does so, which never rejects: without a name a start searches more of the log. */
export function createSearchNames(log: Log, graph: Searched, hold: Hold): () => Promise<void> {
  let isNaming = false;
  return async () => {
    if (isNaming) return;
    isNaming = true;
    await nameSearched(log, graph, hold).catch(() => undefined);
    isNaming = false;
  };
}
