import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, RowVersion } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

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
  readonly events: Pick<EffectiveEvents, 'stream'>;
  readonly space: string;
  readonly registry: SchemaRegistry;
};

export type DocumentMoment = {
  readonly type: string;
  readonly documentId: string;
  /** The last event that counts. */
  readonly revision: bigint;
};

/**
 * Applies the document's own stream up to a revision to a graph in memory, each event under the content types of its time. The types of
 * today come last, so that renamed attributes keep their values.
 */
export async function readDocumentAt(options: PastOptions, moment: DocumentMoment): Promise<PastDocument> {
  const { registry } = options;
  const graph = openContentGraph(':memory:');
  try {
    graph.replay(await eventsOf(options, moment));
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

/** Returns the events of the document and of all content types, in the order of the log, with positions of their own. */
async function eventsOf(
  { events: { stream: streamOf }, space, registry }: PastOptions,
  { type, documentId, revision }: DocumentMoment,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  const read = async (name: string, last?: bigint) => {
    for await (const event of streamOf(name)) {
      if (last !== undefined && event.revision > last) break;
      events.push(event);
    }
  };
  for (const uid of registry.contentTypes.keys()) await read(definitionStream(space, uid));
  await read(documentStream(space, type, documentId), revision);
  return events
    .sort((a, b) => (a.position < b.position ? -1 : 1))
    .map((event, at) => ({ ...event, position: BigInt(at + 1) }));
}
