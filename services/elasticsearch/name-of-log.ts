import type { EventStore } from '../../shared/event-store/event-store.ts';

/** Returns the id of the first event, which identifies the log. Throws if the log is empty. */
export async function nameOfLog(log: EventStore): Promise<string> {
  for await (const [first] of log.readAll(0n, { batchSize: 1 })) if (first !== undefined) return first.id;
  throw new Error('the log is empty');
}
