import { z } from 'zod';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { ParkedDocument } from '../../projections/graph/stale/stale-rows.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { eventsAfter } from '../../shared/event-store/events-after.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { documentsOf } from '../read-side/read-side.ts';
import { defineLook, defineOperation, type LookContext } from './operation.ts';

/** Document that the read index refused. */
export type ParkedItem = {
  /** Name in commands: world and key of its row, which are unique. */
  readonly item: string;
  readonly type: string;
  readonly documentId: string;
  readonly locale: string | null;
  /** Position at which it was refused. */
  readonly position: string;
  readonly reason: string;
  /** Row of the document as an answer shows it now; null if it no longer exists. */
  readonly row: unknown;
};

/** Event of another program in a stream of the namespace. Such events are skipped. */
export type ForeignEvent = {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  readonly type: string;
  readonly reason: string;
};

export type ParkedLine =
  | { readonly kind: 'event'; readonly event: ForeignEvent }
  | { readonly kind: 'item'; readonly item: ParkedItem }
  | { readonly kind: 'count'; readonly count: number };

const ITEMS = z.array(z.string()).optional();

/**
 * Lists the documents that the read index refused, and the skipped events of other programs. `items`: names or documentIds; absent: all of
 * them.
 */
export const listParkedOperation = defineLook({
  form: z.strictObject({ items: ITEMS }),
  async *run(context, { items }): AsyncGenerator<ParkedLine> {
    const parked = await parkedOf(context);
    for (const document of choose(parked, items)) yield { kind: 'item', item: present(context, document) };
    if (items === undefined) yield* foreignEvents(context);
  },
});

/** Retries or drops documents that the read index refused. `items`: as for the list. */
export const parkedOperation = defineOperation({
  form: z.strictObject({ action: z.enum(['retry', 'drop']), items: ITEMS }),
  async *run(context, { action, items }): AsyncGenerator<ParkedLine> {
    const parked = await parkedOf(context);
    yield { kind: 'count', count: parked?.[action](choose(parked, items)) ?? 0 };
  },
});

/** Returns the named documents. Throws a message for a name that no parked document has. */
function choose(
  parked: ParkedDocuments | undefined,
  items: readonly string[] | undefined,
): readonly ParkedDocument[] {
  const all = parked?.list() ?? [];
  const missing = items?.find((name) => !all.some((document) => isNamed(document, name)));
  if (missing !== undefined)
    throw new Error(`no refused document is called ${missing}: see varve parked list`);
  return items === undefined ? all : all.filter((document) => items.some((name) => isNamed(document, name)));
}

/** Reads the part of the log in which the graph skipped events. */
async function* foreignEvents({ graph, log }: LookContext): AsyncGenerator<ParkedLine> {
  const { count, first, last } = graph.foreignEvents();
  if (count === 0) return;
  for await (const event of eventsAfter(log, first - 1n, { until: last }))
    if (isForeign(event)) yield { kind: 'event', event: presentForeign(event) };
}

function presentForeign({ position, stream, revision, id, type, unreadable }: StoredEvent): ForeignEvent {
  const location = { position: String(position), stream, revision: String(revision) };
  return { ...location, id, type, reason: unreadable?.reason ?? '' };
}

/** Returns the parked documents; undefined if the index never refuses any. Without a server, decisions wait for its start. */
async function parkedOf({ server, graph, readSide }: LookContext): Promise<ParkedDocuments | undefined> {
  return server ? documentsOf(await readSide())?.parked : graph.stale?.parked;
}

function isNamed(document: ParkedDocument, name: string): boolean {
  return name === document.documentId || name === nameOf(document);
}

function nameOf({ world, key }: ParkedDocument): string {
  return `${world}/${key}`;
}

function present({ graph }: LookContext, document: ParkedDocument): ParkedItem {
  const { type, documentId, locale, position, reason, world, key } = document;
  const row = graph.inspect().world(world).row(type, key);
  return {
    item: nameOf(document),
    type,
    documentId,
    locale,
    position: String(position),
    reason,
    row: row === undefined ? null : JSON.parse(Buffer.from(row.source).toString()),
  };
}
