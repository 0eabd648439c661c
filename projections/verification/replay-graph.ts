import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openContentGraph } from '../graph/content-graph.ts';
import { catchUpOrThrow } from '../graph/projector.ts';

export type Replay = {
  readonly log: EventStore;
  /** Path of the new graph. */
  readonly file: string;
  /** The last event that counts. */
  readonly upTo: bigint;
  /** Called with every batch and the number of its events. */
  readonly onEvents: (count: number, events: readonly StoredEvent[]) => void;
};

/** Makes a graph from the log as it was at a position. */
export async function replayGraph({ log, file, upTo, onEvents }: Replay): Promise<void> {
  const graph = openContentGraph(file);
  const counting: Parameters<typeof catchUpOrThrow>[1] = {
    readFrom: graph.readFrom,
    replay(events) {
      graph.replay(events);
      onEvents(events.length, events);
    },
  };
  try {
    await catchUpOrThrow(log, counting, { until: upTo });
  } finally {
    graph.close();
  }
}
