import { checkedBatchSize, type Decode, type EncodedEvent, encodeEvents, MAX_INT64 } from '../event-codec.ts';
import type {
  AppendCondition,
  AppendResult,
  EventStore,
  OrderedAppend,
  ReadAllOptions,
  StoredEvent,
  Subscription,
  TogetherResult,
  Trouble,
} from '../event-store.ts';
import { findDamageOf } from '../find-damage.ts';
import { laterPosition } from '../later-position.ts';
import { assertInSpace, spaceOf } from '../stream-space.ts';
import { refuseRepeatedStreams } from '../together-result.ts';
import { createAppender } from './kurrentdb-append.ts';
import { checkServer } from './kurrentdb-check.ts';
import { type Connection, connect } from './kurrentdb-connection.ts';
import { type Recorded, toStoredEvent } from './kurrentdb-event.ts';
import { createHeadWatch, type HeadWatch } from './kurrentdb-head.ts';
import { createPageSize, readEndOfLog, readRecordAt, readStreamPage } from './kurrentdb-pages.ts';
import { retrying } from './kurrentdb-retry.ts';
import { scanSpace } from './kurrentdb-scan.ts';
import { subscribeToNamespace } from './kurrentdb-subscription.ts';
import { serverChecksConditions } from './kurrentdb-write.ts';

export type KurrentDbEventStoreOptions = {
  /** The store has the streams that begin with `<space>.`; the server may have others. */
  readonly space: string;
  /** Decodes every event that is read, including new ones. Default: returns it as stored. */
  readonly decode?: Decode;
  /** Milliseconds for one call to the server; for a read, between two parts of its answer. Default: 5,000. */
  readonly deadlineMs?: number;
  /** Milliseconds for which an append or a read is retried if the server cannot be reached or has no leader. Default: 30,000. */
  readonly giveUpAfterMs?: number;
  /** Called for every failure that is retried. */
  readonly onTrouble?: (trouble: Trouble) => void;
};

const DEFAULT_BATCH_SIZE = 512;

type DecodeRecorded = (event: Recorded) => StoredEvent;

/**
 * Opens the event log on KurrentDB, or EventStoreDB from 22.10 on. Any number of processes may use it. Positions are those of the server's
 * transaction log: increasing, with gaps. It sends nothing before the first call. After that it reconnects by itself: appends and reads
 * reject after `giveUpAfterMs`, subscriptions retry forever.
 *
 * It recognises a repeated append among the newest 512 events of its stream, and at the revision that the append expects. It does not
 * notice that an event id exists in another stream. An append rejects if it is larger than the server accepts (1 MB by default before
 * KurrentDB 25.1). It also rejects if the stream is outside of the namespace or was deleted on the server. Throws if the address cannot be
 * parsed.
 */
export function openKurrentDbEventStore(url: string, options: KurrentDbEventStoreOptions): EventStore {
  const { space, deadlineMs = 5_000, giveUpAfterMs = 30_000, onTrouble = () => undefined } = options;
  const connection = connect(url, space, { deadlineMs, giveUpAfterMs, onTrouble });
  const watch = createHeadWatch(connection);
  const appender = createAppender(connection);
  const decode: DecodeRecorded = (event) => toStoredEvent(event, options.decode ?? ((stored) => stored));
  const appends = new Set<Promise<unknown>>();
  const subscriptions = new Set<Subscription>();
  let closing: Promise<void> | undefined;

  const assertOpen = () => {
    if (closing !== undefined) throw new Error('the event store is closed');
  };
  const encode = (appends: readonly OrderedAppend[], condition: AppendCondition | undefined) => {
    assertOpen();
    return appends.map(({ stream, expected, events }) => {
      assertInSpace(stream, space);
      return { stream, expected, events: encodeEvents(stream, events), condition };
    });
  };
  const track = <T>(appending: Promise<T>): Promise<T> => {
    appends.add(appending);
    return appending.finally(() => appends.delete(appending));
  };
  const close = async () => {
    await Promise.allSettled(appends);
    await Promise.all([...subscriptions].map((subscription) => subscription.close()));
    watch.close();
    connection.close();
  };
  return {
    async append(stream, expected, events, condition) {
      assertOpen();
      const encoded = encodeEvents(stream, events);
      assertInSpace(stream, space);
      const appending = () => appender.append({ stream, expected, events: encoded, condition });
      const [result] = await track(inHistory(connection, [encoded], async () => [await appending()]));
      return result as AppendResult;
    },
    async appendInOrder(given, condition) {
      const encoded = encode(given, condition);
      const events = encoded.map((append) => append.events);
      return track(inHistory(connection, events, () => appender.appendInOrder(encoded)));
    },
    async appendTogether(given, condition) {
      refuseRepeatedStreams(given);
      const encoded = encode(given, condition);
      const events = encoded.map((append) => append.events);
      const appending = async () => [await appender.appendTogether(encoded)];
      const [result] = await track(inHistory(connection, events, appending));
      return result as TogetherResult;
    },
    checksConditions: () =>
      retrying("the request for the server's features", connection.retryLimits, () =>
        serverChecksConditions(connection),
      ),
    async *readStream(stream, fromRevision = 0n) {
      if (spaceOf(stream) === space) yield* readStream(connection, decode, stream, fromRevision);
    },
    readAll: (after, { batchSize = DEFAULT_BATCH_SIZE, searched } = {}) =>
      readAll(connection, decode, after, { batchSize: checkedBatchSize(batchSize), searched }),
    check: () => checkServer(connection),
    lastPosition: () => lastPosition(connection, watch),
    historyAt: (position) => idAt(connection, position),
    subscribe(after, handle, { batchSize = DEFAULT_BATCH_SIZE, stream } = {}) {
      assertOpen();
      const request = { after, handle, decode, stream, batchSize: checkedBatchSize(batchSize) };
      const subscription = subscribeToNamespace(connection, watch, request);
      subscriptions.add(subscription);
      const forget = () => subscriptions.delete(subscription);
      subscription.done.then(forget, forget);
      return subscription;
    },
    findDamage: () => findDamageOf(readAll(connection, decode, 0n, { batchSize: DEFAULT_BATCH_SIZE })),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Makes appends. Rejects with LogRestored if the position of a result cannot be in the history that this process has read. */
async function inHistory<Result extends AppendResult | TogetherResult>(
  { history }: Connection,
  events: readonly (readonly EncodedEvent[])[],
  append: () => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const before = history.mark();
  const answered = history.appending(events);
  const results = await append().finally(answered);
  for (const result of results) if (result.kind === 'appended') await history.stored(before, result.position);
  return results;
}

async function* readStream(connection: Connection, decode: DecodeRecorded, stream: string, from: bigint) {
  const size = createPageSize(DEFAULT_BATCH_SIZE);
  for (let next = from < 0n ? 0n : from; next <= MAX_INT64; ) {
    const count = size.count();
    const page = await readStreamPage(connection, stream, { from: next, count });
    connection.history.seen(page);
    yield* page.map(decode);
    if (page.length < count) return;
    next = (page.at(-1)?.revision ?? next) + 1n;
    size.learn(page);
  }
}

type Reading = { readonly batchSize: number; readonly searched?: ReadAllOptions['searched'] };

async function* readAll(
  connection: Connection,
  decode: DecodeRecorded,
  after: bigint,
  { batchSize, searched }: Reading,
) {
  for await (const { events, upTo } of scanSpace(connection, after, batchSize)) {
    if (events.length > 0) yield events.map(decode);
    searched?.(upTo);
  }
}

/** Returns the id of the record at a position. A node that was the leader until now may lack the newest records. */
async function idAt(connection: Connection, position: bigint): Promise<string | undefined> {
  const { retryLimits, history } = connection;
  if (position > MAX_INT64) return undefined;
  const read = () => retrying('read of the log', retryLimits, () => readRecordAt(connection, position));
  let record = await read();
  if (record === undefined) {
    await history.prove();
    record = await read();
  }
  return record?.id;
}

/**
 * Returns the position of the newest record of the whole log. To find the namespace's own last event, the server might have to search all
 * later records of others.
 */
async function lastPosition(connection: Connection, watch: HeadWatch): Promise<bigint> {
  const position = await readEndOfLog(connection);
  watch.want(position);
  return laterPosition(position, connection.history.mark().event);
}
