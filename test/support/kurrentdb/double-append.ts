import {
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import statusPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/status_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { assertNever } from '../../../shared/assert-never.ts';
import {
  appendTooLargeError,
  batchExpectedState,
  expectedState,
  messageTooLargeError,
  proposedEvent,
  rpcError,
  streamDeletedError,
  streamMessage,
  streamName,
} from './double-messages.ts';
import type { ExpectedState, ProposedEvent, WriteResult } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';

const UNAVAILABLE = 14;
/** Limit of a message in bytes (TFConsts.EffectiveMaxLogRecordSize). */
const MAX_MESSAGE = 16_767_216;

/** Serves `Append`: a call is one write. It sends its options and then its events. */
export const appendCall =
  ({ log, enter, maxAppendSize }: DoubleServices) =>
  async (
    call: ServerReadableStream<AppendReq, AppendResp>,
    answer: sendUnaryData<AppendResp>,
  ): Promise<void> => {
    try {
      let options: AppendReq.Options | undefined;
      const events: ProposedEvent[] = [];
      for await (const message of call as AsyncIterable<AppendReq>) {
        if (message.hasOptions()) options = message.getOptions();
        else {
          // MaxReceiveMessageSize of the Streams service (ClusterVNodeStartup.cs).
          if (message.serializeBinary().length > MAX_MESSAGE) throw messageTooLargeError();
          events.push(proposedEvent(message.getProposedMessage() as AppendReq.ProposedMessage));
        }
      }
      const fault = await enter('append', call.metadata, events.length);
      if (options === undefined || call.cancelled) return;
      if (sizeOf(events) > maxAppendSize) throw appendTooLargeError(maxAppendSize);
      const stream = streamName(options.getStreamIdentifier());
      const expected = expectedState(options);
      const result = log.write(stream, expected, events);
      if (fault?.kind === 'lose-answer') throw rpcError(UNAVAILABLE, 'connection lost');
      answer(null, appendResponse(stream, expected, result));
    } catch (error) {
      answer(error as Error);
    }
  };

/**
 * Serves `BatchAppend`, like Streams.BatchAppend.cs: a call has many writes, each of one or more messages with its correlation id. Writes
 * are read one after the other and answered when they are done. A write that is not handled (no leader) ends the call for all.
 */
export const batchAppendCall =
  (services: DoubleServices) =>
  async (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): Promise<void> => {
    const open = new Map<string, BatchWrite>();
    const { observed } = services;
    observed.batchCalls += 1;
    observed.openBatchCalls += 1;
    const close = () => {
      observed.openBatchCalls -= 1;
    };
    call.once('close', close);
    try {
      const messages: AsyncIterable<BatchAppendReq> = call.iterator({ destroyOnReturn: false });
      for await (const message of messages) {
        const correlation = message.getCorrelationId()?.getString() ?? '';
        if (message.serializeBinary().length > MAX_MESSAGE) throw messageTooLargeError();
        const options = message.getOptions();
        if (options !== undefined) open.set(correlation, { options, events: [] });
        const write = open.get(correlation);
        write?.events.push(...message.getProposedMessagesList().map(proposedEvent));
        if (write === undefined || !message.getIsFinal()) continue;
        open.delete(correlation);
        writeOfBatch(services, call, correlation, write).catch((error) => call.emit('error', error));
      }
      call.end();
    } catch (error) {
      call.emit('error', error);
    }
  };

type BatchWrite = { readonly options: BatchAppendReq.Options; readonly events: ProposedEvent[] };

const writeOfBatch = async (
  { server, log, enter, leaderState, maxAppendSize }: DoubleServices,
  call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
  correlation: string,
  { options, events }: BatchWrite,
): Promise<void> => {
  const fault = await enter('batchAppend', call.metadata, events.length);
  if (call.cancelled) return;
  const stream = streamName(options.getStreamIdentifier());
  const answerWith = (error: statusPb.Status) => {
    const response = new streamsPb.BatchAppendResp().setStreamIdentifier(streamMessage(stream));
    call.write(response.setCorrelationId(new sharedPb.UUID().setString(correlation)).setError(error));
  };
  if (leaderState() !== 'known') {
    // Otherwise a server does not answer at all.
    if (leaderState() === 'lost' && server === '26.1')
      answerWith(new statusPb.Status().setMessage('Server Is Not Ready'));
    return;
  }
  if (sizeOf(events) > maxAppendSize) {
    const limit = new sharedPb.MaximumAppendSizeExceeded();
    limit.setMaxappendsize(maxAppendSize);
    answerWith(batchError(limit, 'MaximumAppendSizeExceeded', status.INVALID_ARGUMENT));
    return;
  }
  const expected = batchExpectedState(options);
  const result = log.write(stream, expected, events);
  if (fault?.kind === 'lose-answer') throw rpcError(UNAVAILABLE, 'connection lost');
  if (fault?.kind === 'time-out')
    answerWith(batchError(new sharedPb.Timeout(), 'Timeout', status.DEADLINE_EXCEEDED));
  else call.write(batchResponse(correlation, stream, expected, result));
};

const sizeOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((sum, event) => sum + event.data.length + event.metadata.length, 0);

const appendResponse = (stream: string, expected: ExpectedState, result: WriteResult): AppendResp => {
  switch (result.kind) {
    case 'written': {
      const success = new streamsPb.AppendResp.Success();
      success.setCurrentRevision(result.revision.toString());
      if (result.position === undefined) success.setNoPosition(new sharedPb.Empty());
      else success.setPosition(appendPosition(result.position));
      return new streamsPb.AppendResp().setSuccess(success);
    }
    case 'wrong-expected-version': {
      const conflict = new streamsPb.AppendResp.WrongExpectedVersion();
      // The members of versions before 20.6 are still sent.
      if (result.current === undefined)
        conflict.setCurrentNoStream(new sharedPb.Empty()).setNoStream2060(new sharedPb.Empty());
      else conflict.setCurrentRevision(`${result.current}`).setCurrentRevision2060(Number(result.current));
      if (expected === 'any') conflict.setExpectedAny(new sharedPb.Empty());
      else if (expected === 'no_stream') conflict.setExpectedNoStream(new sharedPb.Empty());
      else if (expected === 'stream_exists') conflict.setExpectedStreamExists(new sharedPb.Empty());
      else conflict.setExpectedRevision(`${expected}`).setExpectedRevision2060(Number(expected));
      return new streamsPb.AppendResp().setWrongExpectedVersion(conflict);
    }
    case 'stream-deleted':
      throw streamDeletedError(stream);
    default:
      return assertNever(result);
  }
};

const batchResponse = (
  correlation: string,
  stream: string,
  expected: ExpectedState,
  result: WriteResult,
): BatchAppendResp => {
  const response = new streamsPb.BatchAppendResp();
  response.setCorrelationId(new sharedPb.UUID().setString(correlation));
  response.setStreamIdentifier(streamMessage(stream));
  switch (result.kind) {
    case 'written': {
      const success = new streamsPb.BatchAppendResp.Success();
      success.setCurrentRevision(result.revision.toString());
      if (result.position === undefined) success.setNoPosition(new emptyPb.Empty());
      else success.setPosition(allStreamPosition(result.position));
      return response.setSuccess(success);
    }
    case 'wrong-expected-version':
      return response.setError(
        batchError(
          wrongExpectedVersion(expected, result.current),
          'WrongExpectedVersion',
          status.ALREADY_EXISTS,
        ),
      );
    case 'stream-deleted': {
      const deleted = new sharedPb.StreamDeleted().setStreamIdentifier(streamMessage(stream));
      return response.setError(batchError(deleted, 'StreamDeleted', status.NOT_FOUND));
    }
    default:
      return assertNever(result);
  }
};

const appendPosition = (position: bigint) =>
  new streamsPb.AppendResp.Position()
    .setCommitPosition(position.toString())
    .setPreparePosition(position.toString());

const allStreamPosition = (position: bigint) =>
  new sharedPb.AllStreamPosition()
    .setCommitPosition(position.toString())
    .setPreparePosition(position.toString());

const wrongExpectedVersion = (expected: ExpectedState, current: bigint | undefined) => {
  const conflict = new sharedPb.WrongExpectedVersion();
  if (current === undefined) conflict.setCurrentNoStream(new emptyPb.Empty());
  else conflict.setCurrentStreamRevision(current.toString());
  if (expected === 'any') conflict.setExpectedAny(new emptyPb.Empty());
  else if (expected === 'no_stream') conflict.setExpectedNoStream(new emptyPb.Empty());
  else if (expected === 'stream_exists') conflict.setExpectedStreamExists(new emptyPb.Empty());
  else conflict.setExpectedStreamPosition(expected.toString());
  return conflict;
};

const batchError = (details: { serializeBinary(): Uint8Array }, name: string, code: status) => {
  const any = new anyPb.Any();
  any.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new statusPb.Status()
    .setCode(code as number)
    .setMessage(name)
    .setDetails(any);
};
