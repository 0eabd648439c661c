import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../../sqlite/database.ts';
import type { LookedAt } from '../../sqlite/look-at-database.ts';
import {
  checkedBatchSize,
  type Decode,
  decodeEvent,
  type EncodedEvent,
  type EventRow,
  encodeEvents,
} from '../event-codec.ts';
import type { Damage, EventStore, NewEvent } from '../event-store.ts';
import { assertInSpace, spaceOf } from '../stream-space.ts';
import { refuseRepeatedStreams, togetherResult } from '../together-result.ts';
import { createAppendQueue } from './append-queue.ts';
import { createLogTail, type DecodeAll } from './log-tail.ts';
import { createLogWriter, createThreadedLogWriter } from './log-writer.ts';
import { lookAtLog, openLog } from './open-log.ts';
import { redactEvents } from './redact-events.ts';
import {
  readAfter,
  readFileAfter,
  readHead,
  readLastPositionOf,
  readLink,
  readStreamFrom,
  type SpacePage,
} from './sqlite-log.ts';

export type SqliteEventStoreOptions = {
  /** The store has the streams that begin with `<space>.`; the file may have others. */
  readonly space: string;
  /** Decodes every event that is read, including new ones. Default: returns it as stored. */
  readonly decode?: Decode;
  /** True to commit on a separate thread, so that this one continues. */
  readonly threaded?: boolean;
  /**
   * Opens an existing file for reading, and changes nothing. `look`: the events that it has now. `follow`: also later ones, so SQLite may
   * make its files next to it. Default: for reading and writing.
   */
  readonly reads?: LogReads | undefined;
};

export type LogReads = 'look' | 'follow';

const DEFAULT_BATCH_SIZE = 512;

/**
 * Opens the event log in an SQLite file, which it creates if necessary. Any number of processes may have it open. Appends made in one turn
 * of the event loop share one durable commit. An event id belongs to one event of the namespace. An append rejects and writes nothing if
 * only some of its ids exist, or if they are in another stream. It also rejects if its stream is outside of the namespace. Throws if the
 * file cannot be opened (see openDatabase).
 */
export function openSqliteEventStore(path: string, options: SqliteEventStoreOptions): EventStore {
  const { space } = options;
  const { connection: db, close: closeFile } = openFile(path, options.reads);
  const decode = options.decode ?? ((stored) => stored);
  const decodeAll: DecodeAll = (rows: readonly EventRow[]) => rows.map((row) => decodeEvent(row, decode));
  const writer = options.threaded === true ? createThreadedLogWriter(path) : createLogWriter(path, db);
  const tail = createLogTail({ path, db, space, writer, decodeAll });
  const queue = createAppendQueue(tail.commit);
  let closing: Promise<void> | undefined;

  const assertOpen = () => {
    if (closing !== undefined) throw new Error('the event store is closed');
  };
  const close = async () => {
    await queue.drain();
    await tail.close();
    await writer.close();
    closeFile();
  };
  const encode = (stream: string, events: readonly NewEvent[]): readonly EncodedEvent[] => {
    assertOpen();
    if (options.reads !== undefined) throw new Error('the event log was opened for reading');
    const encoded = encodeEvents(stream, events);
    assertInSpace(stream, space);
    return encoded;
  };
  const append: EventStore['append'] = async (stream, expected, events, condition) =>
    queue.append({ stream, expected, events: encode(stream, events), condition });
  return {
    append,
    // The queue keeps the order of concurrent appends.
    appendInOrder: (appends, condition) =>
      Promise.all(appends.map((each) => append(each.stream, each.expected, each.events, condition))),
    async appendTogether(appends, condition) {
      refuseRepeatedStreams(appends);
      const encoded = appends.map((each) => ({
        ...each,
        events: encode(each.stream, each.events),
        condition,
      }));
      return togetherResult(appends, await queue.appendTogether(encoded));
    },
    checksConditions: async () => true,
    async *readStream(stream, fromRevision = 0n) {
      if (spaceOf(stream) === space) yield* readStream(db, decodeAll, stream, fromRevision);
    },
    readAll(after, { batchSize = DEFAULT_BATCH_SIZE } = {}) {
      const limit = checkedBatchSize(batchSize);
      return readAll(decodeAll, (at) => readAfter(db, space, at, limit), after);
    },
    lastPosition: async () => readLastPositionOf(db, space),
    historyAt: async (position) => readLink(db, position),
    subscribe(after, handle, { batchSize = DEFAULT_BATCH_SIZE, stream } = {}) {
      assertOpen();
      return tail.subscribe(after, handle, { batchSize: checkedBatchSize(batchSize), stream });
    },
    chain: {
      async head() {
        const head = readHead(db);
        return head.position === 0n ? undefined : head;
      },
      async redact(redactions) {
        assertOpen();
        await queue.drain();
        redactEvents(db, redactions);
      },
    },
    findDamage: () => findDamage(db),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function openFile(path: string, reads: LogReads | undefined): LookedAt {
  if (reads !== undefined) return lookAtLog(path, reads === 'follow');
  const connection = openLog(path);
  return { connection, close: () => connection.close() };
}

/** Checks every event of the file against its digest and its link. */
async function* findDamage(db: Database): AsyncGenerator<Damage> {
  for (let rows = readFileAfter(db, 0n, DEFAULT_BATCH_SIZE); rows.length > 0; ) {
    for (const [position, stream, revision, , , , , , reason] of rows)
      if (reason !== undefined) yield { position, stream, revision, reason };
    await nextTurn();
    rows = readFileAfter(db, rows.at(-1)?.[0] ?? 0n, DEFAULT_BATCH_SIZE);
  }
}

async function* readStream(db: Database, decodeAll: DecodeAll, stream: string, from: bigint) {
  for (let rows = readStreamFrom(db, stream, from, DEFAULT_BATCH_SIZE); rows.length > 0; ) {
    yield* decodeAll(rows);
    await nextTurn();
    rows = readStreamFrom(db, stream, (rows.at(-1)?.[2] ?? from) + 1n, DEFAULT_BATCH_SIZE);
  }
}

async function* readAll(decodeAll: DecodeAll, pageAfter: (after: bigint) => SpacePage, after: bigint) {
  for (let page = pageAfter(after); page.rows.length > 0; page = pageAfter(page.upTo)) {
    yield decodeAll(page.rows);
    await nextTurn();
  }
}
