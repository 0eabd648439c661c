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
import { metadataAsStrings } from '../event-metadata.ts';
import type { AppendCondition, AppendResult } from '../event-store.ts';
import type { ExactAppend } from './kurrentdb-batch-append.ts';
import { toEventData } from './kurrentdb-event.ts';

/**
 * `AppendRecords` of KurrentDB from 26.1: an append whose checks may name streams to which it does not write. This code has not run on a
 * server of that version yet. It has run on the test double, which implements the published protocol.
 */

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
    return { kind: 'appended', revision: written.revision, position };
  } catch (error) {
    if (!isViolation(error)) throw error;
    return violated(error);
  }
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
