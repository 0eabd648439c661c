import { randomUUID } from 'node:crypto';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { isFenced } from '../../shared/fleet/fence.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, RowVersion } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { readEpochs } from '../fleet/epochs.ts';

/** A document at an earlier time: its own values, without relations to other documents. */
export type PastDocument = {
  readonly index: ReadIndex;
  readonly rows: readonly PastRow[];
};

export type PastRow = {
  readonly version: RowVersion;
  readonly locale: string | null;
  /** Values of an answer without populate. The id is not the original one. */
  readonly values: Readonly<Record<string, unknown>>;
};

export type PastOptions = {
  readonly log: Pick<EventStore, 'readStream'>;
  readonly space: string;
  readonly graph: Pick<ContentGraph, 'definition'>;
  readonly registry: SchemaRegistry;
};

export type DocumentMoment = {
  readonly type: string;
  readonly documentId: string;
  /** The last event that counts. */
  readonly revision: bigint;
};

/** Applies the document's own stream up to a revision to a graph in memory, under the content types of today. */
export async function readDocumentAt(options: PastOptions, moment: DocumentMoment): Promise<PastDocument> {
  const { registry } = options;
  const graph = openContentGraph(':memory:');
  try {
    const definitions = [...registry.contentTypes.keys()].map((uid) => options.graph.definition(uid));
    const own = await ownEvents(options, moment);
    const events = [
      ...definitions.flatMap((text, at) =>
        text === undefined ? [] : [definitionEvent(text, BigInt(at + 1))],
      ),
      ...own.map((event, at) => ({ ...event, position: BigInt(definitions.length + at + 1) })),
    ];
    graph.replay(events);
    const index = createEmbeddedIndex({ registry });
    const rows: PastRow[] = [];
    for (const batch of graph.readAll()) {
      await index.apply(batch);
      for (const { type, version, row } of batch.rows) {
        if (row === null || type !== moment.type) continue;
        const values = JSON.parse(Buffer.from(row.source).toString()) as PastRow['values'];
        rows.push({ version, locale: (row.fields['locale'] as string | undefined) ?? null, values });
      }
    }
    return { index, rows };
  } finally {
    graph.close();
  }
}

async function ownEvents(
  { log, space }: PastOptions,
  { type, documentId, revision }: DocumentMoment,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  const epochAt = await readEpochs(log, space);
  for await (const event of log.readStream(documentStream(space, type, documentId))) {
    if (event.revision > revision) break;
    if (isForeign(event) || isFenced(event, epochAt(event.position))) continue;
    events.push({ ...event, metadata: { ...event.metadata, epoch: 0 } });
  }
  return events;
}

function definitionEvent(text: string, position: bigint): StoredEvent {
  return {
    id: randomUUID(),
    stream: 'definitions',
    revision: position - 1n,
    position,
    type: 'content-type-defined',
    data: JSON.parse(text),
    metadata: { schemaVersion: 2, at: '1970-01-01T00:00:00.000Z', epoch: 0 },
  };
}
