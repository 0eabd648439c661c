import { isAccessEvent } from '../../shared/access/access-events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { isIdentityEvent } from '../../shared/fleet/identity-events.ts';
import { isLeaseEvent } from '../../shared/fleet/lease-events.ts';
import { isWebhookEvent } from '../../shared/webhooks/webhook-events.ts';

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
  for await (const batch of log.readAll(after)) {
    for (const event of batch) {
      if (event.position > upTo) return false;
      seen += 1;
      if (seen > MOST || !isBesideContent(event)) return true;
    }
  }
  return false;
}

/** Events of rights do not count: rights are part of the shape, which is compared separately. */
function isBesideContent(event: StoredEvent): boolean {
  return (
    isForeign(event) ||
    isLeaseEvent(event) ||
    isWebhookEvent(event) ||
    isIdentityEvent(event) ||
    isAccessEvent(event)
  );
}
