import type { Channel } from '@grpc/grpc-js';
import recordsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_grpc_pb.js';
import { assertNever } from '../../assert-never.ts';
import { type AppendResult, AppendTooLarge, StreamDeleted } from '../event-store.ts';
import { appendRecords, type GroupResults } from './kurrentdb-append-records.ts';
import { deadlineFor, type ExactAppend, isLarge } from './kurrentdb-batch-append.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent } from './kurrentdb-event.ts';
import { isNodeLost, refusedWriteOf } from './kurrentdb-failure.ts';
import { createGroupCommit, groupLength } from './kurrentdb-group-commit.ts';
import { reportedSize } from './kurrentdb-numbers.ts';
import { readStreamPage } from './kurrentdb-pages.ts';
import { withDeadline } from './kurrentdb-retry.ts';

/** One attempt of an exact append. If it rejects, the append may have been stored. */
export type Write = (append: ExactAppend) => Promise<AppendResult>;

/** Creates the writer. Servers from 26.1 get groups of appends (`AppendRecords`), older ones the messages of a batch call. */
export function createWriter(connection: Connection): Write {
  const commit = createGroupCommit((group) => sendRecords(connection, group));
  return async (append) => {
    const hasRecords = await serverChecksConditions(connection);
    const { condition, ...unconditional } = append;
    const expected = append.expected === 'none' ? 'none' : carried(append.expected);
    if (!hasRecords) return sendInBatch(connection, { ...unconditional, expected });
    const checked = condition && { ...condition, revision: carried(condition.revision) };
    return commit({ ...append, expected, condition: checked });
  };
}

/** Returns the first appends that can be written together: small ones, or one that is large. */
export function firstGroup(appends: readonly ExactAppend[]): readonly ExactAppend[] {
  const large = appends.findIndex(isLarge);
  const small = large === -1 ? appends : appends.slice(0, Math.max(1, large));
  return small.slice(0, groupLength(small));
}

/**
 * Writes a group so that the log has it in its order. Resolves to the results. If an append is not stored, none is on servers from 26.1. On
 * older ones those after it may be.
 */
export async function writeInOrder(
  connection: Connection,
  group: readonly ExactAppend[],
): Promise<GroupResults> {
  if (await serverChecksConditions(connection)) return sendRecords(connection, group);
  return Promise.all(group.map((append) => sendInBatch(connection, append)));
}

function sendRecords(connection: Connection, group: readonly ExactAppend[]): Promise<GroupResults> {
  const events = group.flatMap((append) => append.events);
  const deadline = deadlineFor(connection.retryLimits.deadlineMs, events);
  return onWriter(connection, (channel) => appendRecords(connection.writer, channel, group, deadline));
}

/** Appends with a message of a batch call. */
export async function sendInBatch(connection: Connection, append: ExactAppend): Promise<AppendResult> {
  const outcome = await onWriter(connection, (channel) => connection.batches.append(channel, append));
  if (outcome.kind === 'conflict') return outcome;
  // A server does not return the position of some appends that it recognises as repeated.
  const { revision, position = await positionAt(connection, append.stream, revision) } = outcome;
  return { kind: 'appended', revision, position };
}

/** Returns the position of a stored event. */
export async function positionAt(connection: Connection, stream: string, revision: bigint): Promise<bigint> {
  const [event] = await readStreamPage(connection, stream, { from: revision, count: 1 });
  if (event?.revision === revision) return positionOfEvent(event);
  throw new Error(
    `revision ${revision} of ${stream} was stored and cannot be read: the stream was deleted or truncated on the server`,
  );
}

/** Revision that no stream has. */
export const NEVER = 2n ** 62n;

/** Returns a revision that the protocol can carry: a stream is at neither or at both. */
function carried(revision: bigint): bigint {
  return revision >= 0n && revision < NEVER ? revision : NEVER;
}

/**
 * Returns the port's error for an error of the client. A server has three limits: for an append, for one event (`AppendRecords` only), and
 * for a message.
 */
function portError(error: unknown): unknown {
  const answer = refusedWriteOf(error);
  const { streamName, stream = streamName ?? '', maxAppendSize, maxSize } = error as Refusal;
  switch (answer) {
    case 'unavailable':
      return error;
    case 'too-large':
      return new AppendTooLarge(reportedSize(maxAppendSize ?? maxSize), error);
    case 'deleted':
      return new StreamDeleted(stream, error);
    default:
      return assertNever(answer);
  }
}

/** Members of the client's errors about a refused append, under the names of both protocols. */
type Refusal = {
  readonly streamName?: string;
  readonly stream?: string;
  readonly maxAppendSize?: number;
  readonly maxSize?: number;
};

/** Returns whether the server checks conditions (see EventStore), which are checks of `AppendRecords`. */
export async function serverChecksConditions({ writer, retryLimits }: Connection): Promise<boolean> {
  const { path } = recordsGrpc.StreamsServiceService.appendRecords;
  const { methods } = await withDeadline(writer.features(), retryLimits.deadlineMs);
  return methods.has(path.toLowerCase());
}

/** Waits for a node before it sends anything, so that an abandoned append is not written later. */
async function onWriter<T>(
  { writer, retryLimits }: Connection,
  call: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await withDeadline(writer.channel.current(), retryLimits.deadlineMs);
  const moved = Promise.withResolvers<never>();
  const answered = writer.channel.watch({ on: channel, since: performance.now(), end: moved.reject });
  try {
    return await Promise.race([call(channel), moved.promise]);
  } catch (error) {
    if (isNodeLost(error)) writer.channel.lost(channel, error);
    throw portError(error);
  } finally {
    answered();
  }
}
