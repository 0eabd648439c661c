import { hash } from 'node:crypto';
import { type DocumentEvent, EVENT_SCHEMA_VERSION } from '../../shared/document/events.ts';
import type { EventMetadata, NewEvent } from '../../shared/event-store/event-store.ts';

/** Events as the log takes them. Each id follows from `key` and its place, so the same command gives the same ids. */
export function newEvents(
  events: readonly DocumentEvent[],
  key: string,
  metadata: Omit<EventMetadata, 'schemaVersion'>,
): NewEvent[] {
  return events.map(({ type, data }, index) => ({
    id: derivedUuid(`${key}/${index}`),
    type,
    data,
    metadata: { schemaVersion: EVENT_SCHEMA_VERSION, ...metadata },
  }));
}

/** A UUID (version 8, RFC 9562: free form) from the SHA-256 of `text`. */
function derivedUuid(text: string): string {
  const hex = hash('sha256', text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
