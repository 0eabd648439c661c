import type { Channel } from '@grpc/grpc-js';
import {
  AppendRecordSizeExceededError,
  isCommandError,
  MaxAppendSizeExceededError,
  NO_STREAM,
  StreamDeletedError,
  TransactionMaxSizeExceededError,
  WrongExpectedVersionError,
} from '@kurrent/kurrentdb-client';
import { append as appendCall } from '@kurrent/kurrentdb-client/dist/streams/appendToStream/append.js';
import { createLocks } from '../../locks.ts';
import { type Append, type EncodedEvent, MAX_INT64 } from '../event-codec.ts';
import { type AppendResult, AppendTooLarge, StreamDeleted } from '../event-store.ts';
import { appendRecords, hasAppendRecords, hasBatchAppend } from './kurrentdb-append-records.ts';
import type { BatchOutcome, ExactAppend } from './kurrentdb-batch-append.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent, toEventData } from './kurrentdb-event.ts';
import { isNodeLost } from './kurrentdb-failure.ts';
import { reportedNumber, revisionFrom } from './kurrentdb-numbers.ts';
import { readStreamPage, readStreamPageBefore } from './kurrentdb-pages.ts';
import { retrying, withDeadline } from './kurrentdb-retry.ts';
import {
  createStreamTails,
  EMPTY_TAIL,
  extendTail,
  readStreamTail,
  type StreamTail,
  type StreamTails,
} from './kurrentdb-stream-tails.ts';

/**
 * Appends as the port promises, on a server that promises less. KurrentDB recognises a repetition only while its cache has the ids, or if
 * the expected revision points at them. It writes the events again if the expected revision matches. So the appender first searches for the
 * ids in what it knows of the stream (read once, then cached). Every write names the revision at which this knowledge ends. If another
 * process has appended events, the write is a conflict and the search is repeated. `any` becomes the revision found. The same search
 * decides attempts whose answer was lost.
 */
export function createAppender(connection: Connection): (append: Append) => Promise<AppendResult> {
  const tails = createStreamTails();
  const streams = createLocks();
  // The attempt is repeated as a whole. A search that finds no node must not use up the time limit of the append.
  const retryLimits = { ...connection.retryLimits, giveUpAfterMs: connection.retryLimits.deadlineMs };
  const attempt = async (append: Append): Promise<AppendResult> => {
    try {
      return await appendOnce({ ...connection, retryLimits }, tails, append);
    } catch (error) {
      // The append may have been written.
      tails.forget(append.stream);
      throw error;
    }
  };
  return (append) =>
    streams.run([append.stream], () =>
      retrying(`append to ${append.stream}`, connection.retryLimits, () => attempt(append)),
    );
}

async function appendOnce(connection: Connection, tails: StreamTails, append: Append): Promise<AppendResult> {
  const { stream, expected, events } = append;
  let tail = await tailFor(connection, tails, append);
  for (;;) {
    const earlier = await findEarlierAppend(connection, tail, append);
    if (earlier !== undefined) return earlier;
    const result = await write(connection, append, expected === 'any' ? revisionOf(tail) : expected);
    if (result.kind === 'appended') {
      const ids = events.map((event) => event.id);
      tails.set(stream, extendTail(tail, ids, result.revision));
      return result;
    }
    tail = await readTailAfter(connection, stream, result, tails.get(stream));
    tails.set(stream, tail);
    if (expected === 'any' && result.kind === 'conflict') continue;
    return (await findEarlierAppend(connection, tail, append)) ?? result;
  }
}

/** Reads the tail that must be known before a write: everything up to the revision that the write will name. */
async function tailFor(
  connection: Connection,
  tails: StreamTails,
  { stream, expected }: Append,
): Promise<StreamTail> {
  const known = tails.get(stream);
  // If the server agrees that the stream does not exist, it contains none of the ids.
  if (expected === 'none') return known ?? EMPTY_TAIL;
  if (known !== undefined && (expected === 'any' || expected <= known.revision)) return known;
  const tail = await readStreamTail(connection, stream, known);
  tails.set(stream, tail);
  return tail;
}

/**
 * Reads the tail after an append that was not stored. Reads do not show events that were deleted or truncated on the server, but the next
 * write must name their revision. Without the revision that the server reported, the append would conflict forever.
 */
async function readTailAfter(
  connection: Connection,
  stream: string,
  result: AppendResult,
  known: StreamTail | undefined,
): Promise<StreamTail> {
  if (result.kind !== 'conflict') return readStreamTail(connection, stream, known);
  const { actual } = result;
  const tail = await readStreamTail(connection, stream, actual === undefined ? EMPTY_TAIL : known);
  return actual === undefined || actual <= tail.revision ? tail : { ...tail, revision: actual };
}

/** Returns the result of the append that already stored these events. Throws if only some of them are there, or in another order. */
async function findEarlierAppend(
  connection: Connection,
  tail: StreamTail,
  { stream, events }: Append,
): Promise<AppendResult | undefined> {
  const found = events.map((event) => tail.revisions.get(event.id));
  const some = found.findIndex((revision) => revision !== undefined);
  if (some === -1) return undefined;
  const first = found[0] ?? -1n;
  const revision = first + BigInt(events.length) - 1n;
  if (first < 0n || found.some((at, n) => at !== first + BigInt(n))) {
    const original = `revision ${found[some]} of ${stream}`;
    throw new Error(
      `event id ${events[some]?.id} is that of ${original}, and this append to ${stream} is not its retry`,
    );
  }
  return { kind: 'appended', revision, position: await positionAt(connection, stream, revision) };
}

async function positionAt(connection: Connection, stream: string, revision: bigint): Promise<bigint> {
  const [event] = await readStreamPage(connection, stream, { from: revision, count: 1 });
  if (event?.revision === revision) return positionOfEvent(event);
  throw new Error(
    `revision ${revision} of ${stream} was stored and cannot be read: the stream was deleted or truncated on the server`,
  );
}

async function write(
  connection: Connection,
  append: Append,
  expected: bigint | 'none',
): Promise<AppendResult> {
  const { stream, events } = append;
  const condition =
    append.condition && (await serverChecksConditions(connection)) ? append.condition : undefined;
  const refused = await refuseImpossible(connection, { stream, expected, condition });
  if (refused !== undefined) return refused;
  if (condition !== undefined) {
    const { client } = connection.writer;
    return onWriter(connection, () => appendRecords(client, { stream, expected, events, condition }));
  }
  const batched = await appendInBatch(connection, { stream, expected, events });
  if (batched === undefined || batched.kind === 'unclear') return appendAlone(connection, append, expected);
  if (batched.kind === 'conflict') return batched;
  const { revision, position = await positionAt(connection, stream, revision) } = batched;
  return { kind: 'appended', revision, position };
}

/** Resolves to the result of an append whose expected revision no stream can have, and which the protocol cannot carry. */
async function refuseImpossible(
  connection: Connection,
  { stream, expected, condition }: Omit<ExactAppend, 'events'>,
): Promise<AppendResult | undefined> {
  if (condition !== undefined && !isRevision(condition.revision)) return { kind: 'fenced' };
  if (expected === 'none' || isRevision(expected)) return undefined;
  if (condition !== undefined && (await lastRevision(connection, condition.stream)) !== condition.revision)
    return { kind: 'fenced' };
  return { kind: 'conflict', actual: await lastRevision(connection, stream) };
}

async function lastRevision(connection: Connection, stream: string): Promise<bigint | undefined> {
  const [last] = await readStreamPageBefore(connection, stream, undefined, 1);
  return last?.revision;
}

/** Appends with a call of its own. */
async function appendAlone(
  connection: Connection,
  { stream, events }: Append,
  expected: bigint | 'none',
): Promise<AppendResult> {
  try {
    const result = await callAppend(connection, stream, events, expected === 'none' ? NO_STREAM : expected);
    const revision = revisionFrom(result.nextExpectedRevision, stream);
    const reported = reportedNumber(result.position?.commit);
    const position = reported ?? (await positionAt(connection, stream, revision));
    return { kind: 'appended', revision, position };
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    const actual = error.actualState;
    return { kind: 'conflict', actual: typeof actual === 'bigint' ? actual : undefined };
  }
}

/** Appends in an open call; undefined if the append needs its own call. */
async function appendInBatch(connection: Connection, append: ExactAppend): Promise<BatchOutcome | undefined> {
  const { writer, batches, retryLimits } = connection;
  if (!(await withDeadline(hasBatchAppend(writer.client), retryLimits.deadlineMs))) return undefined;
  return onWriter(connection, async (channel) =>
    batches.takes(channel, sizeOf(append.events)) ? batches.append(channel, append) : undefined,
  );
}

function isRevision(revision: bigint): boolean {
  return revision >= 0n && revision <= MAX_INT64;
}

/**
 * Appends with the client's `Append`: one call for each append, with a deadline. The client itself uses this call only for appends with
 * their own credentials.
 */
export function callAppend(
  connection: Connection,
  stream: string,
  events: readonly EncodedEvent[],
  streamState: bigint | typeof NO_STREAM,
) {
  const { client } = connection.writer;
  const deadline = connection.retryLimits.deadlineMs + sizeOf(events) / SLOWEST_BYTES_PER_MS;
  const options = { streamState, requiresLeader: true, deadline, batchAppendSize: 0 };
  return onWriter(connection, () =>
    appendCall.call(
      client,
      stream,
      events.map((event) => toEventData(event)),
      options,
    ),
  );
}

const RESOURCE_EXHAUSTED = 8;

/**
 * Returns the port's error for an error of the client. A server has three limits: for an append, for one event (`AppendRecords` only), and
 * for a message.
 */
function portError(error: unknown): unknown {
  if (error instanceof StreamDeletedError) return new StreamDeleted(error.streamName, error);
  if (error instanceof MaxAppendSizeExceededError) return new AppendTooLarge(error.maxAppendSize, error);
  if (error instanceof TransactionMaxSizeExceededError) return new AppendTooLarge(error.maxSize, error);
  if (error instanceof AppendRecordSizeExceededError) return new AppendTooLarge(error.maxSize, error);
  const isMessage =
    isCommandError(error as Error) && (error as { code?: number }).code === RESOURCE_EXHAUSTED;
  return isMessage ? new AppendTooLarge(undefined, error) : error;
}

/** Slowest append that is allowed: a megabyte per second. A large append may take longer than the deadline of an answer. */
const SLOWEST_BYTES_PER_MS = 1_000;

function sizeOf(events: readonly EncodedEvent[]): number {
  return events.reduce((sum, event) => sum + event.data.length, 0);
}

/** Returns whether the server checks conditions (see EventStore). */
export function serverChecksConditions({ writer, retryLimits }: Connection): Promise<boolean> {
  return withDeadline(hasAppendRecords(writer.client), retryLimits.deadlineMs);
}

/** Waits for a node before it sends anything, so that an abandoned append is not written later. */
async function onWriter<T>(
  { writer, retryLimits }: Connection,
  call: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await withDeadline(writer.channel.current(), retryLimits.deadlineMs);
  try {
    return await call(channel);
  } catch (error) {
    if (isNodeLost(error)) writer.channel.lost(channel, error);
    throw portError(error);
  }
}

function revisionOf({ revision }: StreamTail): bigint | 'none' {
  return revision < 0n ? 'none' : revision;
}
