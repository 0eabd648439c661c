import { isAccessEvent } from '../../shared/access/access-events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { isIdentityEvent } from '../../shared/fleet/identity-events.ts';
import { isLeaseEvent } from '../../shared/fleet/lease-events.ts';
import { isWebhookEvent } from '../../shared/webhooks/webhook-events.ts';

/** More events than these are not looked at. */
const MOST = 10_000;

/** Returns whether events of content may be behind one position and not behind the other. */
export async function changesContent(
  log: Pick<EventStore, 'readAll'>,
  after: bigint,
  upTo: bigint,
): Promise<boolean> {
  // A graph of an earlier position was made by other means.
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

/** Rights are part of what shapes answers, which is compared by itself. */
function isBesideContent(event: StoredEvent): boolean {
  return (
    isForeign(event) ||
    isLeaseEvent(event) ||
    isWebhookEvent(event) ||
    isIdentityEvent(event) ||
    isAccessEvent(event)
  );
}
