import type { Journal, JournalRow } from '../../projections/journal/journal.ts';
import {
  type ContentTypeDefined,
  type DocumentEvent,
  isDocumentEvent,
} from '../../shared/document/events.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { digestText } from '../../shared/text-digest.ts';

/** One event of the log, and the rows that it changed. */
export type LogChange = {
  readonly position: bigint;
  readonly at: string;
  readonly type: Uid;
  readonly documentId: string;
  readonly rows: readonly JournalRow[];
};

export type LogReaderOptions = {
  readonly events: Pick<EffectiveEvents, 'batches' | 'stream'>;
  readonly space: string;
  /** Returns changes of rows. The graph has applied the log up to every position that is read. */
  readonly changesBetween: Journal['between'];
};

export type ReadRequest = {
  readonly after: bigint;
  /** Position that reads show. Later events are not read. */
  readonly until: bigint;
  readonly types: { has(type: Uid): boolean };
  /** Takes a change. Resolves with true if no more changes are needed. */
  readonly isEnough: (change: LogChange) => Promise<boolean>;
};

export type ReadResult = {
  /** Position of the last event that was read. */
  readonly reached: bigint;
  /** False if there may be more changes. */
  readonly isEnd: boolean;
  /** A type that was redefined since: its rows changed without events of their own. */
  readonly redefined?: Uid | undefined;
};

const BATCH_SIZE = 200;
/** Largest number of events that one request reads. The next request continues. */
const MAX_EVENTS = 5_000;

/** Creates a reader of changes to documents. The log has the events, and the journal the rows that they changed. */
export function createLogReader({ events, space, changesBetween }: LogReaderOptions) {
  const redefinitions = createRedefinitions(events, space);

  const redefinedBy = async ({ type, data, position }: StoredEvent, { types }: ReadRequest) => {
    if (type !== 'content-type-defined') return undefined;
    const { uid } = data as { readonly uid: Uid };
    return types.has(uid) && (await redefinitions(uid)).includes(position) ? uid : undefined;
  };

  /** Returns why the request ends at an event; undefined: it reads on. */
  const endAt = async (
    event: StoredEvent,
    request: ReadRequest,
    rows: readonly JournalRow[],
  ): Promise<Pick<ReadResult, 'redefined'> | undefined> => {
    const redefined = await redefinedBy(event, request);
    if (redefined !== undefined) return { redefined };
    if (!isDocumentEvent(event)) return undefined;
    const { type, documentId } = (event as unknown as DocumentEvent).data;
    if (!request.types.has(type)) return undefined;
    const { position, metadata } = event;
    return (await request.isEnough({ position, at: metadata.at, type, documentId, rows })) ? {} : undefined;
  };

  return async (request: ReadRequest): Promise<ReadResult> => {
    const { after, until } = request;
    let reached = after;
    let count = 0;
    for await (const batch of events.batches(after, { until, batchSize: BATCH_SIZE })) {
      if (count >= MAX_EVENTS) return { reached, isEnd: false };
      count += batch.read;
      const rows = Map.groupBy(changesBetween(reached, batch.upTo), ({ position }) => position);
      for (const event of batch.events) {
        if (stopsReaders(event)) return { reached, isEnd: true };
        reached = event.position;
        const end = await endAt(event, request, rows.get(event.position) ?? []);
        if (end !== undefined) return { reached, isEnd: false, ...end };
      }
      reached = batch.upTo;
    }
    return { reached, isEnd: true };
  };
}

/** The definitions of a type: the revision of the next one, and the positions from which each other model was in force. */
type Known = { next: bigint; model: string | undefined; readonly eras: bigint[] };

/**
 * Creates a reader of the positions at which a content type got another schema. Each call reads the definitions that are new since the
 * previous call.
 */
function createRedefinitions(
  events: Pick<EffectiveEvents, 'stream'>,
  space: string,
): (type: Uid) => Promise<readonly bigint[]> {
  const known = new Map<Uid, Known>();
  return async (uid) => {
    const found = valueAt(known, uid, (): Known => ({ next: 0n, model: undefined, eras: [] }));
    for await (const event of events.stream(definitionStream(space, uid), found.next)) {
      if (event.revision < found.next) continue;
      found.next = event.revision + 1n;
      const { schema, components } = event.data as ContentTypeDefined['data'];
      const model = digestText(JSON.stringify([schema, components]));
      if (model !== found.model) found.eras.push(event.position);
      found.model = model;
    }
    return found.eras.slice(1);
  };
}
