import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';

/** Returns the id of the first event, which identifies the log. Throws if the log is empty. */
export async function nameOfLog(log: EventStore): Promise<string> {
  for await (const { id } of rawEvents(log, 0n, { batchSize: 1 })) return id;
  throw new Error('the log is empty');
}
