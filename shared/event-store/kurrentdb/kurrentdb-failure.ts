import type { ServiceError } from '@grpc/grpc-js';
import {
  convertToCommandError,
  ErrorType,
  isCommandError,
  NotLeaderError,
  UnknownError,
} from '@kurrent/kurrentdb-client';
import errorsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/errors_pb.js';
import protobuf from 'google-protobuf';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import type { EndPoint } from './kurrentdb-address.ts';
import { reportedNode } from './kurrentdb-numbers.ts';

/**
 * Failures of calls, in one table. Servers have two protocols: the older one names the kind of a failure in the trailing metadata
 * `exception`, and the newer one in `grpc-status-details-bin`. A gRPC code alone has several meanings.
 */

/** Error for a call without an answer in time. */
export class DeadlinePassed extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** Error for a call without an answer on a node that is no longer the leader. */
export class LeaderMoved extends DeadlinePassed {
  readonly leader: EndPoint;
  constructor(milliseconds: number, leader: EndPoint) {
    super(milliseconds);
    this.message += `; the leader is ${leader.address}:${leader.port} now`;
    this.leader = leader;
  }
}

/**
 * Answer to a client of Varve whose write failed for good. `unavailable`: 503, the write may have been stored. `too-large`: 413. `deleted`:
 * 409, the stream was deleted on the server.
 */
type RefusedWrite = 'unavailable' | 'too-large' | 'deleted';

/** `leave`: another node may answer the same call. `again`: the same call may succeed later. */
type Row = { readonly leave: boolean; readonly again: boolean; readonly answer: RefusedWrite };

const ANOTHER_NODE: Row = { leave: true, again: true, answer: 'unavailable' };
const LATER: Row = { leave: false, again: true, answer: 'unavailable' };
const FINAL: Row = { leave: false, again: false, answer: 'unavailable' };
const TOO_LARGE: Row = { leave: false, again: false, answer: 'too-large' };
const DELETED: Row = { leave: false, again: false, answer: 'deleted' };

/**
 * Rows by the kind of the client's error, which it takes from the older protocol or from the code. The newer protocol names the reason in its
 * `ErrorInfo`, or sends a message of its own.
 */
const ROWS: ReadonlyMap<string, Row> = new Map([
  [ErrorType.UNAVAILABLE, ANOTHER_NODE],
  [ErrorType.CANCELLED, ANOTHER_NODE],
  [ErrorType.DEADLINE_EXCEEDED, ANOTHER_NODE],
  [ErrorType.NOT_LEADER, ANOTHER_NODE],
  [ErrorType.TIMEOUT, LATER],
  [ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED, TOO_LARGE],
  [ErrorType.TRANSACTION_MAX_SIZE_EXCEEDED, TOO_LARGE],
  [ErrorType.APPEND_RECORD_SIZE_EXCEEDED, TOO_LARGE],
  [ErrorType.STREAM_DELETED, DELETED],
  [ErrorType.STREAM_TOMBSTONED, DELETED],
  ['SERVER_NOT_READY', ANOTHER_NODE],
  ['SERVER_MALFUNCTION', ANOTHER_NODE],
  ['SERVER_OVERLOADED', LATER],
  ['OPERATION_TIMEOUT', LATER],
  ['BAD_REQUEST', FINAL],
  ['NotLeaderNodeErrorDetails', ANOTHER_NODE],
  ['AccessDeniedErrorDetails', FINAL],
  ['AppendConsistencyViolationErrorDetails', FINAL],
  ['AppendRecordSizeExceededErrorDetails', TOO_LARGE],
  ['AppendTransactionSizeExceededErrorDetails', TOO_LARGE],
  ['StreamDeletedErrorDetails', DELETED],
  ['StreamNotFoundErrorDetails', FINAL],
  ['StreamRevisionConflictErrorDetails', FINAL],
  ['StreamTombstonedErrorDetails', DELETED],
]);

/** gRPC codes that a retry would get again: invalid argument, permission denied, out of range, unimplemented … */
const FINAL_CODES: ReadonlySet<number> = new Set([3, 7, 11, 12, 16]);
/** gRPC code of a message above the limit of the server, which refuses it without details. */
const RESOURCE_EXHAUSTED = 8;

/** Messages of the older protocol for a position that is not in the log (code UNKNOWN). The server sends no other detail. */
const INVALID_POSITION = /Unexpected (Filtered)?ReadAllResult: (InvalidPosition|Error)|invalid position/i;
/** Message of the older protocol during an election (`RpcExceptions.NoLeaderInfo`, code UNKNOWN). The server sends no other detail. */
const NO_LEADER = /No leader info/;

/** Returns whether the same call may succeed later. */
export function mayPass(error: unknown): boolean {
  const kind = commandError(error);
  if (kind === undefined) return error instanceof DeadlinePassed || isDiscoveryFailure(error);
  return rowOf(kind).again;
}

/** Returns whether the node is gone or not the leader, so that another may answer the same call. */
export function isNodeLost(error: unknown): boolean {
  if (error instanceof DeadlinePassed) return true;
  const kind = commandError(error);
  return kind !== undefined && rowOf(kind).leave;
}

/** Returns what a client of Varve gets for a write that failed so. */
export function refusedWriteOf(error: unknown): RefusedWrite {
  const kind = commandError(error);
  return kind === undefined ? 'unavailable' : rowOf(kind).answer;
}

/**
 * Returns the client's error for a failure of a call. The client throws if a failure lacks the details of its kind, or if they are damaged.
 * They are treated as absent then, so that no row describes the failure.
 */
export function failureOf(error: Error): Error {
  try {
    return convertToCommandError(error) ?? error;
  } catch {
    return new UnknownError(error as ServiceError);
  }
}

/** Returns the leader that a node named when it refused a call; undefined if it named none. That leader may be dead. */
export function leaderNamedBy(error: unknown): EndPoint | undefined {
  if (error instanceof LeaderMoved) return error.leader;
  if (error instanceof NotLeaderError) return reportedNode(error.leader.address, error.leader.port);
  const kind = commandError(error);
  const details = kind && detailsOf(kind);
  if (details?.name !== 'NotLeaderNodeErrorDetails') return undefined;
  const named = parsed(() => errorsPb.NotLeaderNodeErrorDetails.deserializeBinary(details.value));
  const leader = named?.getCurrentLeader();
  return reportedNode(leader?.getHost(), leader?.getPort());
}

/** Returns whether a server reports that its cluster has no leader. */
export function hasNoLeader(error: unknown): boolean {
  return error instanceof Error && NO_LEADER.test(error.message);
}

/** Returns whether the server reports that a position is not in its log. */
export function isInvalidPosition(error: unknown): boolean {
  return error instanceof Error && INVALID_POSITION.test(error.message);
}

/** Returns everything that the server said of a failure that no row describes; undefined for known failures. */
export function unknownFailure(error: unknown): string | undefined {
  const kind = commandError(error);
  if (kind === undefined || (knownRow(kind) !== undefined && !hasUnknownDetails(kind))) return undefined;
  const { name, reason } = detailsOf(kind) ?? {};
  const said = [
    `code ${kind.code}`,
    name && `details ${name}`,
    reason && `reason ${reason}`,
    ...trailersOf(kind),
  ];
  return said.filter((each) => each !== undefined && each !== '').join(', ');
}

type Kind = Error & { readonly type: ErrorType; readonly code?: number; readonly _raw?: unknown };

/** Returns the client's error for a failure of a call; undefined for other failures, such as the program's own. */
function commandError(error: unknown): Kind | undefined {
  if (!(error instanceof Error)) return undefined;
  const converted = failureOf(error);
  return isCommandError(converted) ? (converted as Kind) : undefined;
}

function rowOf(kind: Kind): Row {
  const row = knownRow(kind);
  // A failure without a row may be this node's alone.
  if (row === undefined) return ANOTHER_NODE;
  if (!hasUnknownDetails(kind)) return row;
  return row.again ? ANOTHER_NODE : FINAL;
}

/** Returns whether the newer protocol names a reason that has no row. The client takes it for the kind of the failure's code. */
function hasUnknownDetails(kind: Kind): boolean {
  const details = detailsOf(kind);
  return details !== undefined && detailedRow(details) === undefined;
}

function detailedRow({ reason, name }: Details): Row | undefined {
  return ROWS.get(reason) ?? ROWS.get(name);
}

function knownRow(kind: Kind): Row | undefined {
  const details = detailsOf(kind);
  const detailed = details && detailedRow(details);
  if (detailed !== undefined) return detailed;
  if (kind.code === RESOURCE_EXHAUSTED) return TOO_LARGE;
  if (kind.type !== ErrorType.UNKNOWN) return ROWS.get(kind.type) ?? FINAL;
  if (FINAL_CODES.has(kind.code ?? -1) || isInvalidPosition(kind)) return FINAL;
  return hasNoLeader(kind) ? ANOTHER_NODE : undefined;
}

type Details = { readonly name: string; readonly value: Uint8Array; readonly reason: string };

/** Returns the details of the newer protocol: its last message, which is the specific one, and the reason of `google.rpc.ErrorInfo`. */
function detailsOf({ _raw: raw }: Kind): Details | undefined {
  const [status] = (raw as Raw | undefined)?.metadata?.get(STATUS) ?? [];
  return status instanceof Uint8Array ? parsed(() => readDetails(status)) : undefined;
}

/** Returns the trailing metadata of a failure, without the details and what the transport adds. */
function trailersOf({ _raw: raw }: Kind): readonly string[] {
  const trailers = Object.entries((raw as Raw | undefined)?.metadata?.getMap() ?? {});
  return trailers.filter(([name]) => !TRANSPORT.has(name)).map(([name, value]) => `${name} ${value}`);
}

type Raw = Partial<Pick<ServiceError, 'metadata'>>;

const STATUS = 'grpc-status-details-bin';
const TRANSPORT: ReadonlySet<string> = new Set([STATUS, 'content-type', 'content-length', 'date', 'server']);

/** Returns undefined if the bytes are not the message that they should be. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function readDetails(status: Uint8Array): Details | undefined {
  const messages = fieldsOf(status, STATUS_DETAILS).map((bytes) => anyPb.Any.deserializeBinary(bytes));
  const info = messages.find((message) => message.getTypeUrl().endsWith('/google.rpc.ErrorInfo'));
  const [reason] = info === undefined ? [] : fieldsOf(info.getValue_asU8(), ERROR_REASON);
  const last = messages.at(-1);
  if (last === undefined) return undefined;
  return {
    name: last.getTypeUrl().split('.').at(-1) ?? '',
    value: last.getValue_asU8(),
    reason: Buffer.from(reason ?? []).toString(),
  };
}

/** Number of `details` in google.rpc.Status. The client's class of this message keeps only the last of them. */
const STATUS_DETAILS = 3;
/** Number of `reason` in google.rpc.ErrorInfo, which the client does not have. */
const ERROR_REASON = 1;

function fieldsOf(message: Uint8Array, number: number): readonly Uint8Array[] {
  const reader = new protobuf.BinaryReader(new Uint8Array(message));
  const values: Uint8Array[] = [];
  while (reader.nextField()) {
    if (reader.getFieldNumber() === number) values.push(reader.readBytes());
    else reader.skipField();
  }
  return values;
}

/** Returns whether the client's discovery or a socket failed; both give plain errors. */
function isDiscoveryFailure(error: unknown): boolean {
  return error instanceof Error && (/^Failed to discover/.test(error.message) || 'syscall' in error);
}
