import { type Channel, type ClientDuplexStream, status } from '@grpc/grpc-js';
import { convertToCommandError } from '@kurrent/kurrentdb-client';
import { unpackWrongExpectedVersion } from '@kurrent/kurrentdb-client/dist/streams/appendToStream/unpackError.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsPb, {
  type BatchAppendReq,
  type BatchAppendResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Append, EncodedEvent } from '../event-codec.ts';
import { withServerNames } from '../event-metadata.ts';
import type { AppendResult, EventMetadata } from '../event-store.ts';
import type { NodeClient } from './kurrentdb-client.ts';
import { DeadlinePassed } from './kurrentdb-failure.ts';
import { reportedNumber } from './kurrentdb-numbers.ts';

/** Appends over open calls (see createBatchAppender). */
export type BatchAppender = ReturnType<typeof createBatchAppender>;

/** An append that names the revision of its stream. */
export type ExactAppend = Append & { readonly expected: bigint | 'none' };

export type BatchOutcome =
  | Exclude<AppendResult, { kind: 'appended' | 'fenced' }>
  /** Result of an append. `position` is absent if the server does not return it. */
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint | undefined }
  | { readonly kind: 'unclear' };

const CALLS = 4;
/** Maximum appends of a call. All calls together take more than an import has in flight (512). Further appends use calls of their own. */
const APPENDS_OF_A_CALL = 256;
/**
 * Maximum bytes of a message. A message that the server refuses as too large ends the call for all appends on it. No server refuses this
 * size by default.
 */
const MAX_BYTES = 256 * 1024;

/**
 * Creates the appender for a node. It appends over a few `BatchAppend` calls that stay open, because a message costs a third of a call. It
 * opens them when appends need them. A server handles the messages of one call one after the other (Streams.BatchAppend.cs), so there are
 * several calls.
 *
 * The calls share the connection with subscriptions. Node releases the connection's flow control window as soon as data arrives, so a
 * subscriber that does not read delays only itself.
 */
export function createBatchAppender(node: NodeClient, deadlineMs: number) {
  let open: Call[] = [];
  /** Calls on a replaced channel end after their last append. */
  const retire = (channel: Channel) => {
    for (const call of open) if (call.channel !== channel) call.retire();
    open = open.filter((call) => !call.hasEnded() && call.channel === channel);
  };
  const leastBusy = () =>
    open.reduce<Call | undefined>(
      (best, call) => (best === undefined || call.waiting() < best.waiting() ? call : best),
      undefined,
    );
  return {
    /** Returns whether an append of this size can be sent now, on this channel. */
    takes(channel: Channel, bytes: number): boolean {
      retire(channel);
      return bytes <= MAX_BYTES && (open.length < CALLS || (leastBusy()?.waiting() ?? 0) < APPENDS_OF_A_CALL);
    },
    /**
     * Appends. Resolves to `unclear` if the server refused and `Append` would give more detail: the append may have been written. Rejects
     * with DeadlinePassed or the client's error if the call failed. Then too the append may have been written.
     */
    append(channel: Channel, append: ExactAppend): Promise<BatchOutcome> {
      retire(channel);
      let call = leastBusy();
      if (call === undefined || (call.waiting() > 0 && open.length < CALLS)) {
        call = openCall(node, channel, deadlineMs);
        open.push(call);
      }
      return call.append(append);
    },
    close(): void {
      for (const call of open) call.retire();
    },
  };
}

type Call = ReturnType<typeof openCall>;

type Waiting = Omit<PromiseWithResolvers<BatchOutcome>, 'promise'> & { readonly timer: NodeJS.Timeout };

function openCall(node: NodeClient, channel: Channel, deadlineMs: number) {
  const waiting = new Map<string, Waiting>();
  let ended = false;
  let retired = false;
  let last = 0;
  const stream: ClientDuplexStream<BatchAppendReq, BatchAppendResp> = node
    .stub(streamsGrpc.StreamsClient, channel)
    .batchAppend(...node.callArguments({ requiresLeader: true }));

  const take = (correlation: string): Waiting | undefined => {
    const found = waiting.get(correlation);
    waiting.delete(correlation);
    clearTimeout(found?.timer);
    return found;
  };
  const end = (error: Error) => {
    ended = true;
    stream.cancel();
    for (const correlation of [...waiting.keys()]) take(correlation)?.reject(error);
  };
  const endIfDone = () => {
    if (retired && waiting.size === 0 && !ended) end(new Error('the call was ended'));
  };
  stream.on('data', (answer: BatchAppendResp) => {
    take(answer.getCorrelationId()?.getString() ?? '')?.resolve(outcomeOf(answer));
    endIfDone();
  });
  // The listener stays for the life of the call, because a failure while nothing waits must not end the process.
  stream.on('error', (error) => end(convertToCommandError(error) as Error));
  stream.on('end', () => end(convertToCommandError(brokenOff()) as Error));
  return {
    channel,
    append: (append: ExactAppend) =>
      new Promise<BatchOutcome>((resolve, reject) => {
        last += 1;
        const correlation = correlationOf(last);
        // A call that did not answer one append will not answer the others earlier.
        const timer = setTimeout(() => end(new DeadlinePassed(deadlineMs)), deadlineMs);
        waiting.set(correlation, { resolve, reject, timer });
        stream.write(requestOf(correlation, append));
      }),
    waiting: () => waiting.size,
    hasEnded: () => ended,
    /** Ends the call as soon as no append waits for an answer. */
    retire(): void {
      retired = true;
      endIfDone();
    },
  };
}

/** Returns a UUID, because the protocol requires one. The server only checks that those of one call differ. */
function correlationOf(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

function brokenOff() {
  return Object.assign(new Error('the server ended the call'), {
    code: status.UNAVAILABLE,
    details: 'the server ended the call',
  });
}

function requestOf(correlation: string, { stream, expected, events }: ExactAppend): BatchAppendReq {
  const options = new streamsPb.BatchAppendReq.Options();
  options.setStreamIdentifier(new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream)));
  if (expected === 'none') options.setNoStream(new emptyPb.Empty());
  else options.setStreamPosition(expected.toString());
  const request = new streamsPb.BatchAppendReq();
  request.setCorrelationId(new sharedPb.UUID().setString(correlation));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(proposedMessage));
  request.setIsFinal(true);
  return request;
}

function proposedMessage(event: EncodedEvent): BatchAppendReq.ProposedMessage {
  const metadata = withServerNames(JSON.parse(event.metadata) as EventMetadata);
  const message = new streamsPb.BatchAppendReq.ProposedMessage();
  message.setId(new sharedPb.UUID().setString(event.id));
  message.getMetadataMap().set('type', event.type).set('content-type', 'application/json');
  // The text is sent without changes.
  message.setData(Buffer.from(event.data));
  message.setCustomMetadata(Buffer.from(JSON.stringify(metadata)));
  return message;
}

function outcomeOf(answer: BatchAppendResp): BatchOutcome {
  const success = answer.getSuccess();
  if (success !== undefined) {
    const revision = reportedNumber(success.getCurrentRevision());
    const position = reportedNumber(success.getPosition()?.getCommitPosition());
    return revision === undefined ? { kind: 'unclear' } : { kind: 'appended', revision, position };
  }
  const error = answer.getError();
  const conflict = error === undefined ? null : unpackWrongExpectedVersion(error);
  if (conflict === null) return { kind: 'unclear' };
  const actual = conflict.hasCurrentStreamRevision() ? conflict.getCurrentStreamRevision() : undefined;
  return { kind: 'conflict', actual: reportedNumber(actual) };
}
