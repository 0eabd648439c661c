import { hash, randomBytes } from 'node:crypto';
import { defined } from '../../shared/defined.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import type { EventMetadata, NewEvent } from '../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';

/**
 * Returns the events of one command for the log. Each event after the first names the first one as its cause. Each id follows from `key`
 * and its index, so the same command gives the same ids. A key that somebody may guess gets a salt: after an erasure nobody can test guesses
 * of the content with the digest that remains.
 */
export function newEvents(
  events: readonly DocumentEvent[],
  key: string,
  metadata: Omit<EventMetadata, 'schemaVersion'>,
): NewEvent[] {
  const salt = VERSION_7.test(key) ? undefined : randomBytes(16).toString('base64url');
  return events.map(({ type, data }, index) => ({
    id: eventId(key, `${key}/${index}`),
    type,
    data,
    metadata: inDigestedOrder(
      { schemaVersion: EVENT_VERSIONS[type], ...metadata, ...defined({ salt }) },
      index === 0 ? undefined : eventId(key, `${key}/0`),
    ),
  }));
}

/** Returns the metadata with its members in the order of the digest (shared/event-store/event-digest.ts), which saves sorting them. */
function inDigestedOrder(metadata: EventMetadata, causationId: string | undefined): EventMetadata {
  const { actor, at, command, correlationId, epoch, salt, schemaVersion, traceId, via } = metadata;
  return {
    ...defined({ actor }),
    at,
    ...defined({ causationId, command, correlationId }),
    epoch,
    ...defined({ salt }),
    schemaVersion,
    ...defined({ traceId, via }),
  };
}

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

/**
 * A UUID (version 8, RFC 9562: free form) from the SHA-256 of `text`. If the key is a UUID of version 7, the id begins with its time. Ids
 * in order of time make the log's index a third cheaper.
 */
function eventId(key: string, text: string): string {
  const digest = hash('sha256', text);
  const hex = VERSION_7.test(key) ? key.slice(0, 8) + key.slice(9, 13) + digest.slice(12) : digest;
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
