import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import type {
  AppendReq,
  BatchAppendReq,
  ReadReq,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import errorsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/errors_pb.js';
import protobuf from 'google-protobuf';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { ExpectedState, LogRecord, ProposedEvent } from './double-record.ts';
import type { DoubleVersion } from './double-services.ts';

/** Conversions between the double's records and the messages of KurrentDB's protocol, version 1. */

type ReadResponse = InstanceType<typeof streamsPb.ReadResp>;

export const eventResponse = (record: LogRecord, uuids: ReadReq.Options.UUIDOption): ReadResponse => {
  const event = new streamsPb.ReadResp.ReadEvent.RecordedEvent();
  event.setId(uuidMessage(record.id, uuids.hasString()));
  event.setStreamIdentifier(streamMessage(record.stream));
  event.setStreamRevision(record.revision.toString());
  event.setCommitPosition(record.position.toString());
  event.setPreparePosition(record.position.toString());
  event.setData(record.data);
  event.setCustomMetadata(record.metadata);
  const metadata = event.getMetadataMap();
  metadata.set('type', record.type);
  metadata.set('content-type', record.contentType);
  metadata.set('created', record.created.toString());
  const read = new streamsPb.ReadResp.ReadEvent();
  read.setEvent(event);
  read.setCommitPosition(record.position.toString());
  return new streamsPb.ReadResp().setEvent(read);
};

export const confirmationResponse = (subscriptionId: string): ReadResponse =>
  new streamsPb.ReadResp().setConfirmation(
    new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId),
  );

/** Commit and prepare position of a report. The prepare position may be 0 while the other is not. */
type Reported = { readonly position: bigint; readonly prepare: bigint };

/** Creates the report of a search position. Servers from 25.1 on add the time. */
export const checkpointResponse = ({ position, prepare }: Reported, server: DoubleVersion): ReadResponse => {
  const checkpoint = new streamsPb.ReadResp.Checkpoint()
    .setCommitPosition(position.toString())
    .setPreparePosition(prepare.toString());
  if (server === '26.1') checkpoint.setTimestamp(now());
  return new streamsPb.ReadResp().setCheckpoint(checkpoint);
};

/** Creates the report that a subscription has caught up. Servers from 25.1 on add the time and the position. */
export const caughtUpResponse = ({ position, prepare }: Reported, server: DoubleVersion): ReadResponse => {
  const caughtUp = new streamsPb.ReadResp.CaughtUp();
  if (server === '26.1') {
    const at = new streamsPb.ReadResp.Position()
      .setCommitPosition(position.toString())
      .setPreparePosition(prepare.toString());
    caughtUp.setTimestamp(now()).setPosition(at);
  }
  return new streamsPb.ReadResp().setCaughtUp(caughtUp);
};

const now = () => timestampPb.Timestamp.fromDate(new Date());

export const streamNotFoundResponse = (stream: string): ReadResponse =>
  new streamsPb.ReadResp().setStreamNotFound(
    new streamsPb.ReadResp.StreamNotFound().setStreamIdentifier(streamMessage(stream)),
  );

export const proposedEvent = (
  message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage,
): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

export const expectedState = (options: AppendReq.Options): ExpectedState => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : BigInt(options.getRevision());
};

export const batchExpectedState = (options: BatchAppendReq.Options): ExpectedState => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : BigInt(options.getStreamPosition());
};

export const streamName = (identifier: InstanceType<typeof sharedPb.StreamIdentifier> | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

export const streamMessage = (stream: string) =>
  new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8'));

const uuidMessage = (id: string, asText: boolean) => {
  if (asText) return new sharedPb.UUID().setString(id);
  const hex = id.replaceAll('-', '');
  const bits = (from: number) => BigInt.asIntN(64, BigInt(`0x${hex.slice(from, from + 16)}`)).toString();
  const structured = new sharedPb.UUID.Structured();
  structured.setMostSignificantBits(bits(0));
  structured.setLeastSignificantBits(bits(16));
  return new sharedPb.UUID().setStructured(structured);
};

/** Creates a gRPC error in the form of the server: the trailing metadata has its kind and details. */
export const rpcError = (
  code: number,
  details: string,
  trailers: { readonly [name: string]: string } = {},
): ServiceError => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

export const streamDeletedError = (stream: string): ServiceError =>
  rpcError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

/** Returns the error of a page. The enumerators of reads do not handle this result, so it becomes RpcExceptions.UnknownError. */
export const invalidPositionError = (server: DoubleVersion): ServiceError => {
  const reason =
    'Log record at actual pos 0 has non-positive length: 0.  in chunk #0-0 (chunk-000000.000000).';
  const text = 'Unexpected FilteredReadAllResult: InvalidPosition';
  return rpcError(status.UNKNOWN, server === '26.1' ? `${text} >> ${reason}` : text);
};

/** Returns the error that ends a subscription after its confirmation. */
export const invalidStartError = (): ServiceError =>
  rpcError(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.');

export const notLeaderError = (leader: { readonly host: string; readonly port: number }): ServiceError =>
  rpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.host,
    'leader-endpoint-port': `${leader.port}`,
  });

/** Returns the error of `AppendRecords` on a node that is not the leader (26.1). */
export const notLeaderNodeError = (leader: {
  readonly host: string;
  readonly port: number;
}): ServiceError => {
  const node = new errorsPb.NotLeaderNodeErrorDetails.NodeInfo()
    .setHost(leader.host)
    .setPort(leader.port)
    .setNodeId(crypto.randomUUID());
  const text = `The server is not the leader node and cannot handle the request. Please retry your request against the leader node directly at ${leader.host}:${leader.port}`;
  return detailedError(status.FAILED_PRECONDITION, text, {
    reason: 'NOT_LEADER_NODE',
    domain: 'server',
    name: 'kurrent.rpc.NotLeaderNodeErrorDetails',
    details: new errorsPb.NotLeaderNodeErrorDetails().setCurrentLeader(node),
  });
};

type ErrorDetails = {
  readonly reason: string;
  readonly domain: string;
  readonly name: string;
  readonly details: { serializeBinary(): Uint8Array };
};

/** Creates an error of the newer protocol: `grpc-status-details-bin` has google.rpc.ErrorInfo, and then the specific message. */
export const detailedError = (
  code: number,
  text: string,
  { reason, domain, name, details }: ErrorDetails,
): ServiceError => {
  const info = new protobuf.BinaryWriter();
  info.writeString(1, reason);
  info.writeString(2, domain);
  const all = new protobuf.BinaryWriter();
  all.writeInt32(1, code);
  all.writeString(2, text);
  all.writeBytes(3, packed('google.rpc.ErrorInfo', info.getResultBuffer()));
  all.writeBytes(3, packed(name, details.serializeBinary()));
  const error = rpcError(code, text);
  error.metadata.set('grpc-status-details-bin', Buffer.from(all.getResultBuffer()));
  return error;
};

const packed = (name: string, bytes: Uint8Array): Uint8Array => {
  const any = new anyPb.Any();
  any.pack(bytes, name);
  return any.serializeBinary();
};

/** Returns RpcExceptions.NoLeaderInfo: the error of a node that never knew a leader. */
export const noLeaderError = (): ServiceError =>
  rpcError(status.UNKNOWN, 'No leader info available in response');

export const accessDeniedError = (): ServiceError =>
  rpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export const appendTooLargeError = (limit: number): ServiceError =>
  rpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': `${limit}`,
  });

/** Returns the error of grpc-dotnet, which refuses the message before the server sees it. */
export const messageTooLargeError = (): ServiceError =>
  rpcError(status.RESOURCE_EXHAUSTED, 'Received message exceeds the maximum configured message size.');

/** Returns RpcExceptions.Timeout: a majority did not answer the leader, or the leader did not answer a node, in time. */
export const forwardTimeoutError = (): ServiceError =>
  rpcError(status.ABORTED, 'Operation timed out: Forward timeout');
