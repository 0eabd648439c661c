import type { EventStore } from '../../shared/event-store/event-store.ts';
import { eventsAfter } from '../../shared/event-store/events-after.ts';
import { isAboutContent } from '../../shared/events/about-content.ts';

/** Maximum number of events that are read. */
const MOST = 10_000;

/** Returns whether the log may have content events between two positions. */
export async function changesContent(
  log: Pick<EventStore, 'readAll'>,
  after: bigint,
  upTo: bigint,
): Promise<boolean> {
  // A graph at an earlier position was made in another way.
  if (after > upTo) return true;
  if (after === upTo) return false;
  let seen = 0;
  for await (const event of eventsAfter(log, after, { until: upTo })) {
    seen += 1;
    // Rights are part of the shape, which is compared separately.
    if (seen > MOST || isAboutContent(event)) return true;
  }
  return false;
}
