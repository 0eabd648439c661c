import type { EventStore } from '../../shared/event-store/event-store.ts';

/** A log is known by its first event. Throws when it has none. */
export async function nameOfLog(log: EventStore): Promise<string> {
  for await (const [first] of log.readAll(0n, { batchSize: 1 })) if (first !== undefined) return first.id;
  throw new Error('the log is empty');
}
