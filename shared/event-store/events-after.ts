import { defined } from '../defined.ts';
import type { EventStore, StoredEvent } from './event-store.ts';

/** Behind every position of a log. */
const END = 2n ** 64n;

/** Reads the events after a position, one by one. `until`: the last position to read. Default: to the end of the log. */
export async function* eventsAfter(
  log: Pick<EventStore, 'readAll'>,
  after: bigint,
  { until = END, batchSize }: { readonly until?: bigint; readonly batchSize?: number } = {},
): AsyncGenerator<StoredEvent> {
  for await (const events of log.readAll(after, defined({ batchSize }))) {
    for (const event of events) {
      if (event.position <= until) yield event;
      if (event.position >= until) return;
    }
  }
}
