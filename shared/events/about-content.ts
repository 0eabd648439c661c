import { isAccessEvent } from '../access/access-events.ts';
import { isErasureEvent } from '../erasure/erasure-events.ts';
import type { StoredEvent } from '../event-store/event-store.ts';
import { isForeign } from '../event-store/unreadable.ts';
import { isIdentityEvent } from '../fleet/identity-events.ts';
import { isLeaseEvent } from '../fleet/lease-events.ts';
import { isReleaseEvent } from '../releases/release-events.ts';
import { isSynonymEvent } from '../synonyms/synonym-events.ts';
import { isWebhookEvent } from '../webhooks/webhook-events.ts';

/**
 * Returns whether an event is about documents or content types. Other events are about rights, webhooks, releases, erasures, synonyms
 * and rules of searches or the fleet, or another program wrote them.
 */
export function isAboutContent(event: StoredEvent): boolean {
  return !(
    isForeign(event) ||
    isAccessEvent(event) ||
    isLeaseEvent(event) ||
    isWebhookEvent(event) ||
    isReleaseEvent(event) ||
    isErasureEvent(event) ||
    isSynonymEvent(event) ||
    isIdentityEvent(event)
  );
}
