import { randomUUID } from 'node:crypto';
import type { EventMetadata, NewEvent } from '../event-store/event-store.ts';
import { EVENT_VERSIONS, type EventType } from './event-versions.ts';

/** Returns an event to append, with a random id and the version that this program writes. */
export function newEvent<Type extends EventType>(
  { type, data }: { readonly type: Type; readonly data: unknown },
  metadata: Omit<EventMetadata, 'schemaVersion'>,
): NewEvent & { readonly type: Type } {
  return { id: randomUUID(), type, data, metadata: { schemaVersion: EVENT_VERSIONS[type], ...metadata } };
}
