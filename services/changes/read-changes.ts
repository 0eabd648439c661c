import { type DocumentEvent, isDocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { valueAt } from '../../shared/map-values.ts';
import { createRecentValues } from '../../shared/recent-values.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import {
  addEvent,
  copyHistory,
  type DocumentHistory,
  newHistory,
  type VersionChange,
} from './document-history.ts';
import { createTypeEras, type TypeEra } from './type-eras.ts';

/** One event of the log, and the rows that it changed. */
export type LogChange = {
  readonly position: bigint;
  readonly at: string;
  readonly type: Uid;
  readonly documentId: string;
  readonly rows: readonly VersionChange[];
};

export type LogReaderOptions = {
  readonly events: Pick<EffectiveEvents, 'batches' | 'stream'>;
  readonly space: string;
  readonly registry: SchemaRegistry;
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
const KEPT_HISTORIES = 5_000;

/** Creates a reader of changes to documents. It reads the stream of a document to know the rows that existed before an event. */
export function createLogReader({ events, space, registry }: LogReaderOptions) {
  const typeEras = createTypeEras(events, space, registry);
  const histories = createRecentValues<string, DocumentHistory>(KEPT_HISTORIES);

  /** Returns the history of the document before an event. The caller may add events to it. */
  const historyBefore = async (event: StoredEvent, found: readonly TypeEra[]) => {
    const known = histories.get(event.stream);
    const history = known !== undefined && known.next <= event.revision ? copyHistory(known) : newHistory();
    if (history.next < event.revision) {
      for await (const earlier of events.stream(event.stream, history.next)) {
        if (earlier.revision >= event.revision) break;
        addEvent(history, earlier, { registry, eras: erasBefore(found, earlier.position) });
      }
    }
    return history;
  };

  const rowsOf = async (event: StoredEvent, type: Uid, { eras }: Reading) => {
    const found = await eras(type);
    const history = await historyBefore(event, found);
    const rows = addEvent(history, event, { registry, eras: erasBefore(found, event.position) });
    histories.set(event.stream, history);
    return rows;
  };

  /** Returns the change of an event to a document of the request; undefined: none. */
  const changeBy = async (event: StoredEvent, reading: Reading): Promise<LogChange | undefined> => {
    if (!isDocumentEvent(event)) return undefined;
    const { type, documentId } = (event as unknown as DocumentEvent).data;
    if (!reading.types.has(type)) return undefined;
    const rows = await rowsOf(event, type, reading);
    return { position: event.position, at: event.metadata.at, type, documentId, rows };
  };

  /** Returns why the request ends at an event; undefined: it reads on. */
  const endAt = async (event: StoredEvent, reading: Reading): Promise<RequestEnd | undefined> => {
    const redefined = await redefinedBy(event, reading);
    if (redefined !== undefined) return { redefined };
    const change = await changeBy(event, reading);
    return change !== undefined && (await reading.isEnough(change)) ? {} : undefined;
  };

  return async ({ after, until, types, isEnough }: ReadRequest): Promise<ReadResult> => {
    const reading = { types, isEnough, eras: once(typeEras) };
    let reached = after;
    let count = 0;
    for await (const batch of events.batches(after, { until, batchSize: BATCH_SIZE })) {
      if (count >= MAX_EVENTS) return { reached, isEnd: false };
      count += batch.read;
      for (const event of batch.events) {
        if (stopsReaders(event)) return { reached, isEnd: true };
        reached = event.position;
        const end = await endAt(event, reading);
        if (end !== undefined) return { reached, isEnd: false, ...end };
      }
      reached = batch.upTo;
    }
    return { reached, isEnd: true };
  };
}

/** One request while it reads. */
type Reading = Pick<ReadRequest, 'types' | 'isEnough'> & {
  readonly eras: (type: Uid) => Promise<readonly TypeEra[]>;
};

type RequestEnd = Pick<ReadResult, 'redefined'>;

async function redefinedBy(event: StoredEvent, { types, eras }: Reading): Promise<Uid | undefined> {
  if (event.type !== 'content-type-defined') return undefined;
  const { uid } = event.data as { readonly uid: Uid };
  if (!types.has(uid)) return undefined;
  return (await eras(uid)).findIndex(({ from }) => from === event.position) > 0 ? uid : undefined;
}

/** Returns `ask` with a cache by type. All definitions that one request needs are already in the log. */
function once<Result>(ask: (type: Uid) => Promise<Result>): (type: Uid) => Promise<Result> {
  const asked = new Map<Uid, Promise<Result>>();
  return (type) => valueAt(asked, type, () => ask(type));
}

function erasBefore(eras: readonly TypeEra[], position: bigint): readonly TypeEra[] {
  return (eras.at(-1)?.from ?? 0n) < position ? eras : eras.filter(({ from }) => from < position);
}
