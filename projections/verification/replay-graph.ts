import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openContentGraph } from '../graph/content-graph.ts';
import { catchUpOrThrow } from '../graph/projector.ts';

export type Replay = {
  readonly log: EventStore;
  /** Path of the new graph. */
  readonly file: string;
  /** Position of the last event to apply. */
  readonly upTo: bigint;
  /** Called for every batch, with its events and their number. */
  readonly onEvents: (count: number, events: readonly StoredEvent[]) => void;
};

/** Makes the graph that the log had at a position. */
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
