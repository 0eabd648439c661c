import { randomUUID } from 'node:crypto';
import { type ContentTypeDefined, EVENT_SCHEMA_VERSION } from '../shared/document/events.ts';
import type { EventStore, NewEvent } from '../shared/event-store/event-store.ts';
import type { TypeDefinition } from '../shared/schema/type-definitions.ts';

/**
 * Appends a `content-type-defined` event for every definition that differs from the last one in its stream, before any
 * document event of this run can follow (architecture.md section 3). Throws when another process defines types at once.
 */
export async function appendDefinitions(
  log: EventStore,
  space: string,
  definitions: readonly TypeDefinition[],
  at: string,
): Promise<void> {
  await Promise.all(definitions.map((definition) => appendDefinition(log, space, definition, at)));
}

async function appendDefinition(
  log: EventStore,
  space: string,
  definition: TypeDefinition,
  at: string,
): Promise<void> {
  const stream = definitionStream(space, definition.uid);
  let last: { readonly revision: bigint; readonly data: unknown } | undefined;
  for await (const event of log.readStream(stream)) last = event;
  // As text: the order of attributes is part of a definition, it is the order of an answer's keys.
  if (last !== undefined && JSON.stringify(last.data) === JSON.stringify(definition)) return;
  const event: NewEvent & { readonly type: ContentTypeDefined['type'] } = {
    id: randomUUID(),
    type: 'content-type-defined',
    data: definition,
    metadata: { schemaVersion: EVENT_SCHEMA_VERSION, at, epoch: 0 },
  };
  const result = await log.append(stream, last?.revision ?? 'none', [event]);
  if (result.kind === 'conflict')
    throw new Error(`another process is defining ${definition.uid}: start one at a time`);
}

/** One stream per content type; its category is apart from every document's, whose names begin with a namespace. */
function definitionStream(space: string, uid: string): string {
  return `${space}.content_type-${uid.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;
}
