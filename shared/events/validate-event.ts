import * as z from 'zod';
import type { StoredEvent } from '../event-store/event-store.ts';
import { EVENT_SCHEMAS, METADATA_SCHEMA } from './event-schemas.ts';
import type { EventType } from './event-versions.ts';

/**
 * Checks an event of a known type and version against its schema. Returns undefined if it is valid. The check costs more than reading the
 * event, so a replay omits it.
 */
export function validateEvent({
  type,
  data,
  metadata,
}: Pick<StoredEvent, 'type' | 'data' | 'metadata'>): string | undefined {
  const versions = Object.hasOwn(EVENT_SCHEMAS, type) ? EVENT_SCHEMAS[type as EventType] : [];
  const schema = versions[metadata.schemaVersion - 1];
  if (schema === undefined) return `"${type}" has no version ${metadata.schemaVersion}`;
  for (const [name, given, wanted] of [
    ['data', data, schema],
    ['metadata', metadata, METADATA_SCHEMA],
  ] as const) {
    const { error } = wanted.safeParse(given);
    if (error !== undefined) return `its ${name} does not fit its schema: ${z.prettifyError(error)}`;
  }
  return undefined;
}
