import { defined } from '../defined.ts';
import type { EventHandler, EventStore, ReadAllOptions, StoredEvent, Subscription } from './event-store.ts';

/** Behind every position of a log. */
const END = 2n ** 64n;

/**
 * Reads all events after a position, one by one, also those that do not count. For readers of content see
 * shared/fleet/effective-events.ts. `until`: the last position to read. Default: to the end of the log.
 */
export async function* rawEvents(
  log: Pick<EventStore, 'readAll'>,
  after: bigint,
  { until = END, ...options }: ReadAllOptions & { readonly until?: bigint } = {},
): AsyncGenerator<StoredEvent> {
  for await (const events of log.readAll(after, options)) {
    for (const event of events) {
      if (event.position <= until) yield event;
      if (event.position >= until) return;
    }
  }
}

/** Calls `handle` with all events after a position, of one stream or of all streams, also with those that do not count. */
export function subscribeToRaw(
  log: Pick<EventStore, 'subscribe'>,
  { after, stream }: { readonly after: bigint; readonly stream?: string },
  handle: EventHandler,
): Subscription {
  return log.subscribe(after, handle, defined({ stream }));
}
