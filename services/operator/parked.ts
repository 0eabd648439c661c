import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ParkedDocument } from '../../projections/graph/stale/parked-rows.ts';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
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
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'outcome'; readonly outcome: RetryOutcome };

/** Outcome of a retry for one document. */
export type RetryOutcome = Pick<ParkedItem, 'item' | 'type' | 'documentId'> & {
  /** `waiting`: it is not decided yet, because the index is busy or no server runs. */
  readonly state: 'written' | 'refused' | 'waiting';
  /** Reason of a refusal. */
  readonly reason: string | null;
};

const ITEMS = z.array(z.string()).optional();

/**
 * Lists the documents that the read index refused, and the skipped events of other programs. `items`: names or documentIds; absent: all of
 * them.
 */
export const listParkedOperation = defineLook({
  form: z.strictObject({ items: ITEMS }),
  http: { summary: 'List documents that the read index refused, and skipped events', answer: 'all' },
  async *run(context, { items }): AsyncGenerator<ParkedLine> {
    const parked = await parkedOf(context);
    for (const document of choose(parked, items)) yield { kind: 'item', item: present(context, document) };
    if (items === undefined) yield* foreignEvents(context);
  },
});

/** Retries or drops documents that the read index refused. `items`: as for the list. */
export const parkedOperation = defineOperation({
  form: z.strictObject({ action: z.enum(['retry', 'drop']), items: ITEMS }),
  http: {
    summary: 'Write parked documents to the read index again, or drop them from the list',
    answer: 'all',
  },
  async *run(context, { action, items }): AsyncGenerator<ParkedLine> {
    const parked = await parkedOf(context);
    const chosen = choose(parked, items);
    yield { kind: 'count', count: parked?.[action](chosen) ?? 0 };
    if (action === 'retry' && parked !== undefined)
      yield* outcomesOf(parked, chosen, context.server === undefined ? 0 : DECIDED_WITHIN_MS);
  },
});

/** A bulk request takes milliseconds. A refusal that may pass is repeated for some seconds. */
const DECIDED_WITHIN_MS = 15_000;
const LOOK_MS = 100;

/** Yields what becomes of each retried document. A document is hidden from its retry until the index has decided. */
async function* outcomesOf(
  parked: ParkedDocuments,
  retried: readonly ParkedDocument[],
  withinMs: number,
): AsyncGenerator<ParkedLine> {
  const deadline = performance.now() + withinMs;
  let open = retried;
  while (open.length > 0) {
    const found = new Map(parked.all().map((document) => [nameOf(document), document]));
    const isLast = performance.now() >= deadline;
    const undecided: ParkedDocument[] = [];
    for (const document of open) {
      const now = found.get(nameOf(document));
      if (now?.isHidden === true && !isLast) undecided.push(document);
      else yield { kind: 'outcome', outcome: outcomeOf(document, now) };
    }
    open = undecided;
    if (open.length > 0) await delay(LOOK_MS);
  }
}

function outcomeOf(retried: ParkedDocument, now: ParkedDocument | undefined): RetryOutcome {
  const { type, documentId } = retried;
  const named = { item: nameOf(retried), type, documentId };
  if (now === undefined) return { ...named, state: 'written', reason: null };
  return now.isHidden === true
    ? { ...named, state: 'waiting', reason: null }
    : { ...named, state: 'refused', reason: now.reason };
}

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
  for await (const event of rawEvents(log, first - 1n, { until: last }))
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
