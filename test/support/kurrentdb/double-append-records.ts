import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from '@grpc/grpc-js';
import statusPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/status_pb.js';
import errorsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/errors_pb.js';
import type {
  AppendRecord,
  AppendRecordsRequest,
  AppendRecordsResponse,
  ConsistencyCheck,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import recordsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import type { DoubleLog } from './double-log.ts';
import { rpcError, streamDeletedError } from './double-messages.ts';
import type { ProposedEvent } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';

/**
 * Serves `AppendRecords` of KurrentDB 26.1. It writes all records if every check holds, and else none. Records and checks may name
 * any streams. The error lists all failed checks. Unlike `Append`, it does not recognise repetitions.
 */
export const appendRecordsCall =
  ({ log, enter }: DoubleServices) =>
  async (
    call: ServerUnaryCall<AppendRecordsRequest, AppendRecordsResponse>,
    answer: sendUnaryData<AppendRecordsResponse>,
  ): Promise<void> => {
    try {
      const fault = await enter('appendRecords', call.metadata);
      if (call.cancelled) return;
      const violations = call.request.getChecksList().flatMap((check, n) => violation(log, check, n));
      if (violations.length > 0) throw violationError(violations);
      const written = write(log, call.request.getRecordsList());
      if (fault?.kind === 'lose-answer') throw rpcError(status.UNAVAILABLE, 'connection lost');
      answer(null, written);
    } catch (error) {
      answer(error as Error);
    }
  };

const write = (log: DoubleLog, records: readonly AppendRecord[]): AppendRecordsResponse => {
  const response = new recordsPb.AppendRecordsResponse();
  for (const [stream, events] of byStream(records)) {
    const result = log.write(stream, revisionOf(log, stream) ?? 'no_stream', events);
    if (result.kind !== 'written') throw streamDeletedError(stream);
    const revision = new recordsPb.StreamRevision().setStream(stream);
    response.addRevisions(revision.setRevision(result.revision.toString()));
    response.setPosition(`${result.position}`);
  }
  return response;
};

const byStream = (records: readonly AppendRecord[]): ReadonlyMap<string, readonly ProposedEvent[]> =>
  new Map(
    Object.entries(Object.groupBy(records, (record) => record.getStream())).map(([stream, own = []]) => [
      stream,
      own.map(proposedEvent),
    ]),
  );

/** Converts a record. Its properties are the event's metadata, to which the server adds properties about the schema. */
const proposedEvent = (record: AppendRecord): ProposedEvent => {
  const properties = [...record.getPropertiesMap().entries()].map(([name, value]) => [
    name,
    value.getStringValue(),
  ]);
  const type = record.getSchema()?.getName() ?? '';
  const metadata = { ...Object.fromEntries(properties), '$schema.name': type, '$schema.format': 'Json' };
  return {
    id: record.getRecordId() ?? '',
    type,
    contentType: 'application/json',
    data: record.getData_asU8(),
    metadata: Buffer.from(JSON.stringify(metadata)),
  };
};

const revisionOf = (log: DoubleLog, stream: string): bigint | undefined => log.lastRevision(stream);

const NO_STREAM = -1n;
const STREAM_EXISTS = -4n;
const ANY = -2n;
const DELETED = -5n;
const TOMBSTONED = -6n;

/** Returns the state with which a check is compared (the matrix in ApiErrors.Streams.cs of the server). */
const actualState = (log: DoubleLog, stream: string, expected: bigint): bigint => {
  if (log.isTombstoned(stream)) return TOMBSTONED;
  const last = revisionOf(log, stream) ?? NO_STREAM;
  if (!log.isSoftDeleted(stream) || expected === last) return last;
  return expected === NO_STREAM ? NO_STREAM : DELETED;
};

const violation = (log: DoubleLog, check: ConsistencyCheck, index: number) => {
  const stream = check.getStreamState()?.getStream() ?? '';
  const expected = BigInt(check.getStreamState()?.getExpectedState() ?? ANY);
  const actual = actualState(log, stream, expected);
  const isMet = expected === ANY || expected === actual || (expected === STREAM_EXISTS && actual >= 0n);
  if (isMet) return [];
  const state = new errorsPb.ConsistencyViolation.StreamStateViolation()
    .setStream(stream)
    .setExpectedState(expected.toString())
    .setActualState(actual.toString());
  return [new errorsPb.ConsistencyViolation().setCheckIndex(index).setStreamState(state)];
};

type Violation = ReturnType<typeof violation>[number];

/** Creates an error with details in gRPC's form. */
const violationError = (violations: Violation[]): ServiceError => {
  const details = new errorsPb.AppendConsistencyViolationErrorDetails().setViolationsList(violations);
  const any = new anyPb.Any();
  any.pack(
    details.serializeBinary(),
    'kurrentdb.protocol.v2.streams.errors.AppendConsistencyViolationErrorDetails',
  );
  const error = rpcError(status.FAILED_PRECONDITION, 'A consistency check failed');
  const encoded = new statusPb.Status().setMessage(error.details).setDetails(any).serializeBinary();
  error.metadata.set('grpc-status-details-bin', Buffer.from(encoded));
  return error;
};
