import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openContentGraph } from '../content-graph.ts';
import { catchUpWhole } from '../projector.ts';

export type Replay = {
  readonly log: EventStore;
  /** Not there yet. */
  readonly file: string;
  /** The last event that counts. */
  readonly upTo: bigint;
  /** Called with the number of events of every batch. */
  readonly onEvents: (count: number) => void;
};

/** Makes a graph from the log as it was at a position. */
export async function replayGraph({ log, file, upTo, onEvents }: Replay): Promise<void> {
  const graph = openContentGraph(file);
  const counting: Parameters<typeof catchUpWhole>[1] = {
    readFrom: graph.readFrom,
    replay(events) {
      graph.replay(events);
      onEvents(events.length);
    },
  };
  try {
    await catchUpWhole(log, counting, { until: upTo });
  } finally {
    graph.close();
  }
}
