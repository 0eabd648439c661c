import { type Channel, status } from '@grpc/grpc-js';
import { type AppendConsistencyViolationError, ErrorType, isCommandError } from '@kurrent/kurrentdb-client';
import recordsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_grpc_pb.js';
import recordsPb, {
  type AppendRecordsRequest,
  type AppendRecordsResponse,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import structPb from 'google-protobuf/google/protobuf/struct_pb.js';
import type { EncodedEvent } from '../event-codec.ts';
import { metadataAsStrings } from '../event-metadata.ts';
import { type AppendResult, AppendTooLarge, type EventMetadata } from '../event-store.ts';
import { bytesOf, type ExactAppend } from './kurrentdb-batch-append.ts';
import type { NodeClient } from './kurrentdb-client.ts';
import { failureOf, unknownFailure } from './kurrentdb-failure.ts';
import { reportedNumber, storedNumber } from './kurrentdb-numbers.ts';

/** `AppendRecords` of KurrentDB from 26.1: one call stores records of many streams, in their order, if all its checks hold. */

/** Results of the appends of one call; undefined for an append that was not stored because of another one. */
export type GroupResults = readonly (AppendResult | undefined)[];

/**
 * Makes one call. All appends have the same condition. An append to a stream that the call also writes earlier expects the revision that
 * results from the earlier one. The answer names one position, that of the last record: every append gets it.
 */
export async function appendRecords(
  node: NodeClient,
  channel: Channel,
  appends: readonly ExactAppend[],
  deadline: number,
): Promise<GroupResults> {
  const { request, checked } = requestOf(appends);
  const client = node.stub(recordsGrpc.StreamsServiceClient, channel);
  const { promise, resolve, reject } = Promise.withResolvers<AppendRecordsResponse>();
  client.appendRecords(request, ...node.callArguments({ deadline }), (error, answer) => {
    if (error === null) resolve(answer);
    else reject(failureOf(error));
  });
  try {
    return storedResults(appends, await promise);
  } catch (error) {
    const violated = isViolation(error) ? violatedResults(appends, checked, error) : [];
    if (violated.some((result) => result !== undefined)) return violated;
    throw isTooLarge(error, appends) ? new AppendTooLarge(undefined, error) : error;
  }
}

/** Returns the request, and the append of each check; `condition` for the condition's. */
function requestOf(appends: readonly ExactAppend[]) {
  const request: AppendRecordsRequest = new recordsPb.AppendRecordsRequest();
  const checked: (ExactAppend | 'condition')[] = [];
  const check = (stream: string, state: bigint, by: ExactAppend | 'condition') => {
    const stateCheck = new recordsPb.ConsistencyCheck.StreamStateCheck().setStream(stream);
    request.addChecks(
      new recordsPb.ConsistencyCheck().setStreamState(stateCheck.setExpectedState(`${state}`)),
    );
    checked.push(by);
  };
  const condition = appends[0]?.condition;
  if (condition !== undefined) check(condition.stream, condition.revision, 'condition');
  const written = new Set<string>();
  for (const append of appends) {
    const { stream, expected, events } = append;
    if (!written.has(stream)) check(stream, expected === 'none' ? NO_STREAM : expected, append);
    written.add(stream);
    for (const event of events) request.addRecords(recordOf(stream, event));
  }
  return { request, checked };
}

/** Expected state of a stream that does not exist. */
const NO_STREAM = -1n;

function recordOf(stream: string, { id, type, data, metadata }: EncodedEvent) {
  const record = new recordsPb.AppendRecord().setStream(stream).setRecordId(id);
  const format = recordsPb.SchemaFormat.SCHEMA_FORMAT_JSON;
  // The text is sent without changes.
  record.setSchema(new recordsPb.SchemaInfo().setFormat(format).setName(type)).setData(Buffer.from(data));
  const properties = record.getPropertiesMap();
  for (const [name, value] of Object.entries(metadataAsStrings(JSON.parse(metadata) as EventMetadata)))
    properties.set(name, new structPb.Value().setStringValue(value));
  return record;
}

function storedResults(appends: readonly ExactAppend[], answer: AppendRecordsResponse): GroupResults {
  const position = storedNumber(answer.getPosition(), 'position', appends[0]?.stream ?? '');
  // The answer has the last revision of each stream.
  const last = new Map(answer.getRevisionsList().map((each) => [each.getStream(), each.getRevision()]));
  const results = appends.toReversed().map(({ stream, events }): AppendResult => {
    const revision = storedNumber(last.get(stream), 'revision', stream);
    last.set(stream, `${revision - BigInt(events.length)}`);
    return { kind: 'appended', revision, position };
  });
  return results.reverse();
}

/** Size in bytes from which an exception of the server is its answer to a record that is too large. It stores records up to 16 MiB. */
const LARGE_RECORD = 8 * 1024 * 1024;

/** Returns whether a record was refused for its size. 26.1 says only that its handler threw an exception. */
function isTooLarge(error: unknown, appends: readonly ExactAppend[]): boolean {
  const isException = isCommandError(error as Error) && (error as { code?: number }).code === status.UNKNOWN;
  // A server without a leader says so with the same code.
  if (!isException || unknownFailure(error) === undefined) return false;
  return appends.some((append) => bytesOf(append.events) >= LARGE_RECORD);
}

function isViolation(error: unknown): error is AppendConsistencyViolationError {
  return (
    isCommandError(error as Error) &&
    (error as AppendConsistencyViolationError).type === ErrorType.APPEND_CONSISTENCY_VIOLATION
  );
}

/** Returns the results of violated checks. The condition takes precedence over revisions if the server reports both. */
function violatedResults(
  appends: readonly ExactAppend[],
  checked: readonly (ExactAppend | 'condition')[],
  { violations }: AppendConsistencyViolationError,
): GroupResults {
  const states = new Map(violations.map((each) => [checked[each.checkIndex], each.actualState]));
  if (states.has('condition')) return appends.map(() => ({ kind: 'fenced' }));
  return appends.map((append) => {
    if (!states.has(append)) return undefined;
    const actual = states.get(append);
    // A revision below zero means that the stream was deleted.
    return { kind: 'conflict', actual: typeof actual === 'bigint' ? reportedNumber(actual) : undefined };
  });
}
