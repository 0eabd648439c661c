import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openContentGraph } from '../content-graph.ts';
import { catchUp } from '../projector.ts';

export type Replay = {
  readonly log: EventStore;
  /** Not there yet. */
  readonly file: string;
  /** The last event that counts. */
  readonly upTo: bigint;
  /** Called with every batch. */
  readonly onEvents: (count: number) => void;
  readonly signal?: AbortSignal | undefined;
};

/** Makes a graph from the log as it was at a position. */
export async function replayGraph({ log, file, upTo, onEvents, signal }: Replay): Promise<void> {
  const graph = openContentGraph(file);
  const upToThere: Pick<EventStore, 'readAll'> = {
    async *readAll(after, options) {
      for await (const events of log.readAll(after, options)) {
        signal?.throwIfAborted();
        const counting = events.filter(({ position }) => position <= upTo);
        if (counting.length > 0) yield counting;
        onEvents(counting.length);
        if (counting.length < events.length) return;
      }
    },
  };
  try {
    await catchUp({ ...log, ...upToThere }, graph);
  } finally {
    graph.close();
  }
}
