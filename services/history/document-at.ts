import { setImmediate } from 'node:timers/promises';
import { type ContentGraph, openEmptyGraph } from '../../projections/graph/content-graph.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { laterPosition } from '../../shared/event-store/later-position.ts';
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

export type DocumentMoment = DocumentName & {
  /** The last event that counts. */
  readonly revision: bigint;
};

/** Events that are applied at once. Other work runs between two pieces. */
const PIECE = 200;

/**
 * Applies the streams of documents up to a revision of each to a graph in memory, each event under the content types of its time. The types
 * of today come last, so that renamed attributes keep their values. The caller closes the graph. `atMoment` gets the graph after the last
 * event of a document, before later types are applied.
 */
export async function foldDocuments(
  options: PastOptions,
  moments: readonly DocumentMoment[],
  atMoment: (graph: ContentGraph) => void = () => {},
): Promise<ContentGraph> {
  const { own, later } = await eventsOf(options, moments);
  const graph = openEmptyGraph();
  try {
    await replay(graph, own);
    atMoment(graph);
    await replay(graph, later);
    return graph;
  } catch (error) {
    graph.close();
    throw error;
  }
}

/** Reads the rows of a document at a moment, and an index of them. */
export async function readDocumentAt(options: PastOptions, moment: DocumentMoment): Promise<PastDocument> {
  const graph = await foldDocuments(options, [moment]);
  try {
    const index = createEmbeddedIndex({ registry: options.registry });
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

async function replay(graph: ContentGraph, events: readonly StoredEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += PIECE) {
    if (start > 0) await setImmediate();
    graph.replay(events.slice(start, start + PIECE));
  }
}

type FoldedEvents = { readonly own: readonly StoredEvent[]; readonly later: readonly StoredEvent[] };

/**
 * Returns the events of the documents and of all content types, in the order of the log, with positions of their own. `later`: types that
 * were defined after the last event of a document.
 */
async function eventsOf(
  { events: { stream: streamOf }, space, registry }: PastOptions,
  moments: readonly DocumentMoment[],
): Promise<FoldedEvents> {
  const events: StoredEvent[] = [];
  const read = async (name: string, last?: bigint) => {
    for await (const event of streamOf(name)) {
      if (last !== undefined && event.revision > last) break;
      events.push(event);
    }
  };
  for (const uid of registry.contentTypes.keys()) await read(definitionStream(space, uid));
  const types = events.length;
  for (const { type, documentId, revision } of moments)
    await read(documentStream(space, type, documentId), revision);
  const last = events.slice(types).reduce((most, { position }) => laterPosition(position, most), 0n);
  const inOrder = events.sort((a, b) => (a.position < b.position ? -1 : 1));
  const count = inOrder.filter(({ position }) => position <= last).length;
  const numbered = inOrder.map((event, at) => ({ ...event, position: BigInt(at + 1) }));
  return { own: numbered.slice(0, count), later: numbered.slice(count) };
}
