import { type Channel, type ClientDuplexStream, status } from '@grpc/grpc-js';
import { UnknownError } from '@kurrent/kurrentdb-client';
import {
  unpackToCommandError,
  unpackWrongExpectedVersion,
} from '@kurrent/kurrentdb-client/dist/streams/appendToStream/unpackError.js';
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
import { DeadlinePassed, failureOf } from './kurrentdb-failure.ts';
import { reportedNumber } from './kurrentdb-numbers.ts';

/** Appends over open calls (see createBatchAppender). */
export type BatchAppender = ReturnType<typeof createBatchAppender>;

/** An append that names the revision of its stream. */
export type ExactAppend = Append & { readonly expected: bigint | 'none' };

/** Result of an append. `position` is absent if the server does not return it. */
export type BatchOutcome =
  | Extract<AppendResult, { kind: 'conflict' }>
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint | undefined };

/**
 * Size in bytes from which an append is large, and has a call of its own. A message that the server refuses as too large ends the call for
 * all appends on it. No server refuses a smaller one by default.
 */
const LARGE_BYTES = 256 * 1024;

/** Returns the size of the events' data. */
export function bytesOf(events: readonly EncodedEvent[]): number {
  return events.reduce((sum, event) => sum + event.data.length, 0);
}

/** Slowest append that is allowed: a megabyte per second. A large append may take longer than the deadline of an answer. */
const SLOWEST_BYTES_PER_MS = 1_000;

/** Returns the deadline in milliseconds of a call with these events. */
export function deadlineFor(deadlineMs: number, events: readonly EncodedEvent[]): number {
  return deadlineMs + bytesOf(events) / SLOWEST_BYTES_PER_MS;
}

/** Returns whether an append needs a call of its own. */
export function isLarge({ events }: ExactAppend): boolean {
  return bytesOf(events) > LARGE_BYTES;
}

/**
 * Creates the appender for servers before 26.1. It appends over one `BatchAppend` call that stays open, because a message costs a third of
 * a call. The server stores the messages of the call in their order, and does not wait for one before it reads the next. Only a large append
 * has a call of its own.
 *
 * The call shares the connection with subscriptions. Node releases the connection's flow control window as soon as data arrives, so a
 * subscriber that does not read delays only itself.
 */
export function createBatchAppender(node: NodeClient, deadlineMs: number) {
  let open: Call | undefined;
  return {
    /** Appends. Rejects with DeadlinePassed or the client's error if the server refused or the call failed. It may have been written then. */
    append(channel: Channel, append: ExactAppend): Promise<BatchOutcome> {
      if (isLarge(append)) {
        const call = openCall(node, channel, deadlineFor(deadlineMs, append.events));
        const outcome = call.append(append);
        call.retire();
        return outcome;
      }
      if (open === undefined || open.hasEnded() || open.channel !== channel) {
        // A call on a replaced channel ends after its last append.
        open?.retire();
        open = openCall(node, channel, deadlineMs);
      }
      return open.append(append);
    },
    close(): void {
      open?.retire();
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
    const waits = take(answer.getCorrelationId()?.getString() ?? '');
    const outcome = outcomeOf(answer);
    if (outcome instanceof Error) waits?.reject(outcome);
    else waits?.resolve(outcome);
    endIfDone();
  });
  // The listener stays for the life of the call, because a failure while nothing waits must not end the process.
  stream.on('error', (error) => end(failureOf(error)));
  stream.on('end', () => end(failureOf(brokenOff())));
  return {
    channel,
    append: (append: ExactAppend) =>
      new Promise<BatchOutcome>((resolve, reject) => {
        last += 1;
        const correlation = correlationOf(last);
        // A call that did not answer one append will not answer the others earlier.
        const timer = setTimeout(() => end(new DeadlinePassed(deadlineMs)), deadlineMs);
        waiting.set(correlation, { resolve, reject, timer });
        for (const message of messagesOf(correlation, append)) stream.write(message);
      }),
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

/** Returns the messages of an append: one, or one for each event if it is large. */
function messagesOf(correlation: string, append: ExactAppend): readonly BatchAppendReq[] {
  const { stream, expected, events } = append;
  const options = new streamsPb.BatchAppendReq.Options();
  options.setStreamIdentifier(new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream)));
  if (expected === 'none') options.setNoStream(new emptyPb.Empty());
  else options.setStreamPosition(expected.toString());
  const parts = isLarge(append) ? events.map((event) => [event]) : [events];
  return parts.map((part, n) => {
    const message = new streamsPb.BatchAppendReq();
    message.setCorrelationId(new sharedPb.UUID().setString(correlation));
    if (n === 0) message.setOptions(options);
    message.setProposedMessagesList(part.map(proposedMessage));
    return message.setIsFinal(n === parts.length - 1);
  });
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

/** Returns the result of an append, or the client's error for the refusal of the server. Never throws: nobody would catch it. */
function outcomeOf(answer: BatchAppendResp): BatchOutcome | Error {
  try {
    return readOutcome(answer);
  } catch (error) {
    return new UnknownError(undefined, `the answer cannot be read: ${(error as Error).message}`);
  }
}

function readOutcome(answer: BatchAppendResp): BatchOutcome | Error {
  const success = answer.getSuccess();
  if (success !== undefined) {
    const revision = reportedNumber(success.getCurrentRevision());
    const position = reportedNumber(success.getPosition()?.getCommitPosition());
    return revision === undefined ? new UnknownError() : { kind: 'appended', revision, position };
  }
  const error = answer.getError();
  // A server that is not ready names no details.
  if (error?.getDetails() === undefined) return new UnknownError(undefined, error?.getMessage());
  const conflict = unpackWrongExpectedVersion(error);
  const stream = Buffer.from(answer.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  if (conflict === null) return unpackToCommandError(error, stream);
  const actual = conflict.hasCurrentStreamRevision() ? conflict.getCurrentStreamRevision() : undefined;
  return { kind: 'conflict', actual: reportedNumber(actual) };
}
