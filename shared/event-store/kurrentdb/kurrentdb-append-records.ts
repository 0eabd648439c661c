import { status } from '@grpc/grpc-js';
import {
  type AppendConsistencyViolationError,
  type ConsistencyCheck,
  ErrorType,
  isCommandError,
  type KurrentDBClient,
  STREAM_STATE,
} from '@kurrent/kurrentdb-client';
import streamsV1Grpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_grpc_pb.js';
import type { EncodedEvent } from '../event-codec.ts';
import { metadataAsStrings } from '../event-metadata.ts';
import { type AppendCondition, type AppendResult, AppendTooLarge } from '../event-store.ts';
import type { ExactAppend } from './kurrentdb-batch-append.ts';
import { toEventData } from './kurrentdb-event.ts';
import { positionFrom, revisionFrom } from './kurrentdb-numbers.ts';

/** `AppendRecords` of KurrentDB from 26.1: an append whose checks may name streams to which it does not write. */

type Supporting = { supports(method: { readonly path: string }): Promise<boolean> };

/** Returns whether the server supports AppendRecords. The client caches the answer for the life of its channel. */
export function hasAppendRecords(client: KurrentDBClient): Promise<boolean> {
  // The client's class hides this method from its types, but not from its objects.
  return (client as unknown as Supporting).supports(streamsGrpc.StreamsServiceService.appendRecords);
}

/** Returns whether the server supports `BatchAppend`; cached like hasAppendRecords. */
export function hasBatchAppend(client: KurrentDBClient): Promise<boolean> {
  return (client as unknown as Supporting).supports(streamsV1Grpc.StreamsService.batchAppend);
}

/** Indices of the checks. A violation names its check by index. */
const CONDITION = 0;

/** Appends with a condition on another stream. Servers from 26.1 on check it. */
export async function appendRecords(
  client: KurrentDBClient,
  { stream, expected, events, condition }: ExactAppend & { readonly condition: AppendCondition },
): Promise<AppendResult> {
  const records = events.map((event) => ({
    streamName: stream,
    record: toEventData(event, metadataAsStrings),
  }));
  const checks: ConsistencyCheck[] = [
    { type: STREAM_STATE, streamName: condition.stream, expectedState: condition.revision },
    { type: STREAM_STATE, streamName: stream, expectedState: expected === 'none' ? 'no_stream' : expected },
  ];
  try {
    const { position, responses } = await client.appendRecords(records, checks);
    const written = responses.find(({ streamName }) => streamName === stream);
    if (written === undefined) throw new Error(`the server does not return the revision of ${stream}`);
    const revision = revisionFrom(written.revision, stream);
    return { kind: 'appended', revision, position: positionFrom(position, stream) };
  } catch (error) {
    if (isViolation(error)) return violated(error);
    throw isTooLarge(error, events) ? new AppendTooLarge(undefined, error) : error;
  }
}

/** Size in bytes from which an exception of the server is its answer to a record that is too large. It stores records up to 16 MiB. */
const LARGE_RECORD = 8 * 1024 * 1024;

/** Returns whether a record was refused for its size. 26.1 says only that its handler threw an exception. */
function isTooLarge(error: unknown, events: readonly EncodedEvent[]): boolean {
  const isException = isCommandError(error as Error) && (error as { code?: number }).code === status.UNKNOWN;
  return isException && events.some(({ data }) => Buffer.byteLength(data) >= LARGE_RECORD);
}

function isViolation(error: unknown): error is AppendConsistencyViolationError {
  return (
    isCommandError(error as Error) &&
    (error as AppendConsistencyViolationError).type === ErrorType.APPEND_CONSISTENCY_VIOLATION
  );
}

/** Returns the result of violated checks. The condition takes precedence over the revision if the server reports both. */
function violated({ violations }: AppendConsistencyViolationError): AppendResult {
  if (violations.some(({ checkIndex }) => checkIndex === CONDITION)) return { kind: 'fenced' };
  const actual = violations[0]?.actualState;
  // A revision below zero means that the stream was deleted.
  return { kind: 'conflict', actual: typeof actual === 'bigint' && actual >= 0n ? actual : undefined };
}
