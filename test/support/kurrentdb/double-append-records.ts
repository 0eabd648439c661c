import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from '@grpc/grpc-js';
import errorsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/errors_pb.js';
import type {
  AppendRecord,
  AppendRecordsRequest,
  AppendRecordsResponse,
  ConsistencyCheck,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import recordsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import type { DoubleLog } from './double-log.ts';
import { detailedError, rpcError, streamDeletedError } from './double-messages.ts';
import type { ProposedEvent } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';

/**
 * Serves `AppendRecords` of KurrentDB 26.1. It writes all records if every check holds, and else none. Records and checks may name
 * any streams. The error lists all failed checks.
 */
export const appendRecordsCall =
  ({ log, enter }: DoubleServices) =>
  async (
    call: ServerUnaryCall<AppendRecordsRequest, AppendRecordsResponse>,
    answer: sendUnaryData<AppendRecordsResponse>,
  ): Promise<void> => {
    try {
      const fault = await enter('appendRecords', call.metadata, call.request.getRecordsList().length);
      if (call.cancelled) return;
      const records = call.request.getRecordsList();
      if (records.some((record) => record.getData_asU8().length > MAX_RECORD)) throw handlerError();
      const violations = call.request.getChecksList().flatMap((check, n) => violation(log, check, n));
      if (violations.length > 0 && !isRepetition(log, call.request, violations))
        throw violationError(violations);
      const written = write(log, records, violations.length > 0);
      if (fault?.kind === 'lose-answer') throw rpcError(status.UNAVAILABLE, 'connection lost');
      answer(null, written);
    } catch (error) {
      answer(error as Error);
    }
  };

/** Largest record of a log in bytes. */
const MAX_RECORD = 16 * 1024 * 1024;

/** Returns the error of a record that is too large. */
const handlerError = () => rpcError(status.UNKNOWN, 'Exception was thrown by handler.');

/** Writes the records in their order, which may change between streams. The answer has the position of the last one. */
const write = (
  log: DoubleLog,
  records: readonly AppendRecord[],
  isRepeated: boolean,
): AppendRecordsResponse => {
  const revisions = new Map<string, bigint>();
  let position = 0n;
  for (const stream of streamsOf(records)) if (log.isTombstoned(stream)) throw streamDeletedError(stream);
  for (const record of records) {
    const stream = record.getStream();
    const stored = isRepeated ? log.read(stream)?.find(({ id }) => id === record.getRecordId()) : undefined;
    const result =
      stored ?? log.write(stream, revisionOf(log, stream) ?? 'no_stream', [proposedEvent(record)]);
    if (!('revision' in result)) throw new Error(`the double cannot write to ${stream}`);
    revisions.set(stream, result.revision);
    position = result.position ?? position;
  }
  const response = new recordsPb.AppendRecordsResponse().setPosition(`${position}`);
  for (const [stream, revision] of revisions)
    response.addRevisions(new recordsPb.StreamRevision().setStream(stream).setRevision(`${revision}`));
  return response;
};

const streamsOf = (records: readonly AppendRecord[]) => new Set(records.map((record) => record.getStream()));

/**
 * Returns whether all records are stored at the revisions after the expected ones, and only the revisions of their own streams are
 * violated: the server repeats its answer.
 */
const isRepetition = (
  log: DoubleLog,
  request: AppendRecordsRequest,
  violations: readonly Violation[],
): boolean => {
  const records = request.getRecordsList();
  const own = streamsOf(records);
  const states = request.getChecksList().map((check) => check.getStreamState());
  const next = new Map(
    states.map((state) => [state?.getStream() ?? '', BigInt(state?.getExpectedState() ?? ANY) + 1n]),
  );
  const isStored = (record: AppendRecord) => {
    const stream = record.getStream();
    const revision = next.get(stream) ?? 0n;
    next.set(stream, revision + 1n);
    const stored = log.read(stream)?.find((each) => each.revision === revision);
    return stored?.id === record.getRecordId();
  };
  return (
    violations.every((each) => own.has(each.getStreamState()?.getStream() ?? '')) && records.every(isStored)
  );
};

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

const violationError = (violations: Violation[]): ServiceError => {
  const states = violations.map(sayViolation).map((each) => `\n - ${each}`);
  const text = `Append failed due to consistency violations.\n${states.join('')}`;
  return detailedError(status.FAILED_PRECONDITION, text, {
    reason: 'APPEND_CONSISTENCY_VIOLATION',
    domain: 'streams',
    name: 'kurrentdb.protocol.v2.streams.errors.AppendConsistencyViolationErrorDetails',
    details: new errorsPb.AppendConsistencyViolationErrorDetails().setViolationsList(violations),
  });
};

const sayViolation = (each: Violation): string => {
  const state = each.getStreamState();
  const actual = BigInt(state?.getActualState() ?? 0);
  const is =
    actual === NO_STREAM
      ? 'does not exist'
      : actual === TOMBSTONED
        ? 'is tombstoned'
        : actual === DELETED
          ? 'is deleted'
          : `is at revision ${actual}`;
  return `Stream '${state?.getStream()}' ${is}, expected revision ${state?.getExpectedState()}.`;
};
