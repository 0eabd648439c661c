import { randomUUID } from 'node:crypto';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import type { DocumentErased, ErasedEvent } from '../../shared/erasure/erasure-events.ts';
import { digestAsFound } from '../../shared/event-store/event-digest.ts';
import type { EventStore, Redaction } from '../../shared/event-store/event-store.ts';
import { isForeign, refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { registryOfDefinitions, type TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { isBare, skeletonOf, skeletonOfMetadata } from './skeleton.ts';

export type ErasureLog = { readonly log: EventStore; readonly space: string };

/** A document, and the id of the order to erase it. */
export type OrderedDocument = { readonly order: string; readonly type: Uid; readonly documentId: string };

/** Returns the events of a document that an erasure changes, as they will be: those that no earlier one has changed. */
export async function planErasure(
  from: ErasureLog,
  document: OrderedDocument,
): Promise<readonly ErasedEvent[]> {
  const planned: ErasedEvent[] = [];
  for await (const { type, redaction } of redactionsOf(from, document, () => randomUUID())) {
    const { revision, id } = redaction;
    planned.push({ revision: String(revision), id, digest: digestAsFound({ type, ...redaction }) });
  }
  return planned;
}

/**
 * Returns the new contents of the events that a proof of erasure names, without those that have it already. Throws if one does not have the
 * digest that the proof names.
 */
export async function redactionsFor(
  from: ErasureLog,
  erased: DocumentErased['data'],
): Promise<readonly Redaction[]> {
  const named = new Map(erased.events.map((event) => [BigInt(event.revision), event]));
  const redactions: Redaction[] = [];
  for await (const { type, redaction } of redactionsOf(from, erased, (revision) => named.get(revision)?.id)) {
    if (digestAsFound({ type, ...redaction }) !== named.get(redaction.revision)?.digest)
      throw new Error(
        `revision ${redaction.revision} of ${redaction.stream} cannot be erased: it is not the event that was to be erased`,
      );
    redactions.push(redaction);
  }
  return redactions;
}

/** Counts the events of a document that an erasure changes now. */
export async function countErasable(
  from: ErasureLog,
  document: Pick<OrderedDocument, 'type' | 'documentId'>,
): Promise<number> {
  let count = 0;
  for await (const _ of redactionsOf(from, { ...document, order: '' }, () => '')) count++;
  return count;
}

type Redacted = { readonly type: string; readonly redaction: Redaction };

/** `idOf` returns the new id of an event; undefined: the event stays as it is. */
async function* redactionsOf(
  { log, space }: ErasureLog,
  { order, type, documentId }: OrderedDocument,
  idOf: (revision: bigint) => string | undefined,
): AsyncGenerator<Redacted> {
  const registryAt = await registries({ log, space }, type);
  const stream = documentStream(space, type, documentId);
  // Also events that do not count, because a leader wrote them too late: they have values too.
  for await (const event of log.readStream(stream)) {
    if (isForeign(event) || event.metadata.erased !== undefined) continue;
    const { revision, position } = event;
    const id = idOf(revision);
    if (id === undefined) continue;
    refuseUnreadable(event);
    const data = skeletonOf(event as unknown as DocumentEvent, registryAt(position));
    if (isBare(event, data)) continue;
    const metadata = skeletonOfMetadata(event, order);
    yield { type: event.type, redaction: { stream, revision, id, data, metadata } };
  }
}

/** Definitions of a content type that were read, and the schemas that they make. */
type KnownDefinitions = {
  /** Revision of the next one. */
  next: bigint;
  readonly all: { readonly position: bigint; readonly registry: SchemaRegistry }[];
};

/** By log, then by stream. An erasure of many documents needs the same ones for each of them. */
const definitionsOf = new WeakMap<EventStore, Map<string, KnownDefinitions>>();
const NONE = registryOfDefinitions([]);

/** Returns a function that returns the schema of a content type at a position of the log. Reads only definitions that are new. */
async function registries({ log, space }: ErasureLog, type: Uid) {
  const stream = definitionStream(space, type);
  const streams = valueAt(definitionsOf, log, () => new Map<string, KnownDefinitions>());
  const known = valueAt(streams, stream, (): KnownDefinitions => ({ next: 0n, all: [] }));
  for await (const { revision, position, data, unreadable } of log.readStream(stream, known.next)) {
    // Another call may have read it meanwhile.
    if (revision < known.next) continue;
    known.next = revision + 1n;
    if (unreadable === undefined)
      known.all.push({ position, registry: registryOfDefinitions([data as TypeDefinition]) });
  }
  return (position: bigint) => known.all.findLast((each) => each.position < position)?.registry ?? NONE;
}
