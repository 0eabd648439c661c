import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import type {
  AppendReq,
  BatchAppendReq,
  ReadReq,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { ExpectedState, LogRecord, ProposedEvent } from './double-record.ts';

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

export const checkpointResponse = (position: bigint): ReadResponse =>
  new streamsPb.ReadResp().setCheckpoint(
    new streamsPb.ReadResp.Checkpoint()
      .setCommitPosition(position.toString())
      .setPreparePosition(position.toString()),
  );

export const caughtUpResponse = (): ReadResponse =>
  new streamsPb.ReadResp().setCaughtUp(new streamsPb.ReadResp.CaughtUp());

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

export const invalidPositionError = (): ServiceError =>
  // The enumerators of reads do not handle this result, so it becomes RpcExceptions.UnknownError.
  rpcError(status.UNKNOWN, 'Unexpected FilteredReadAllResult: InvalidPosition');

export const notLeaderError = (leader: { readonly host: string; readonly port: number }): ServiceError =>
  rpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.host,
    'leader-endpoint-port': `${leader.port}`,
  });

/** Returns RpcExceptions.NoLeaderInfo: the error during an election, and without a majority. */
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
