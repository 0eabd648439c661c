import type { ContentTypeDefined } from '../../shared/document/events.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import { AppendTooLarge, type EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** Time, lease and process of an append of definitions. */
export type DefinedAt = { readonly at: string; readonly lead: Lead; readonly owner: string };

/**
 * Appends a `content-type-defined` event for every definition, before any document event of this leader can follow. An append by a process
 * that lost the lease has no effect.
 */
export async function appendDefinitions(
  log: EventStore,
  space: string,
  definitions: readonly TypeDefinition[],
  defined: DefinedAt,
): Promise<void> {
  await Promise.all(definitions.map((definition) => appendDefinition(log, space, definition, defined)));
}

async function appendDefinition(
  log: EventStore,
  space: string,
  definition: TypeDefinition,
  { at, lead, owner }: DefinedAt,
): Promise<void> {
  const stream = definitionStream(space, definition.uid);
  let revision: bigint | undefined;
  for await (const event of log.readStream(stream)) revision = event.revision;
  const event: ContentTypeDefined = { type: 'content-type-defined', data: definition };
  const stored = newEvent(event, {
    at,
    epoch: lead.epoch,
    actor: { kind: 'process', id: owner },
    via: 'define-content-type',
  });
  // Fenced, or a conflict with another leader's definition: this process will read the claim of that leader.
  try {
    await log.append(stream, revision ?? 'none', [stored], lead.fence);
  } catch (error) {
    if (!(error instanceof AppendTooLarge)) throw error;
    throw new Error(`the content type ${definition.uid} cannot be stored: ${error.message}`, {
      cause: error,
    });
  }
}
