import type { Channel, ClientReadableStream } from '@grpc/grpc-js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import type {
  ReadReq,
  ReadResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { NodeClient } from './kurrentdb-client.ts';
import { type Recorded, type RecordMessage, recordedOf } from './kurrentdb-event.ts';
import { DeadlinePassed, failureOf, isNodeLost } from './kurrentdb-failure.ts';
import { withDeadline } from './kurrentdb-retry.ts';

/**
 * The `Read` call of KurrentDB's protocol, made through grpc-js. The client's own reads cannot be cancelled and find no other node. They
 * return a subscription's checkpoints before the events that precede them.
 */

export type ReadFrom = 'start' | 'end' | bigint;

export type PageRequest = {
  readonly from: ReadFrom;
  readonly backwards?: boolean;
  readonly count: number;
};

/** Returns the request for a read of one stream. */
export function streamRequest(stream: string, { from, backwards = false, count }: PageRequest): ReadReq {
  const options = new streamsPb.ReadReq.Options.StreamOptions().setStreamIdentifier(
    new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8')),
  );
  if (from === 'start') options.setStart(new sharedPb.Empty());
  else if (from === 'end') options.setEnd(new sharedPb.Empty());
  else options.setRevision(from.toString());
  return request(new streamsPb.ReadReq.Options().setStream(options).setCount(`${count}`), backwards);
}

/** Filter for streams with this prefix. The server searches `window` records for one page of an answer. */
export type PrefixFilter = {
  readonly prefix: string;
  readonly window: number;
  readonly checkpointEvery: number;
};

/** Returns the request for a read of `$all`. */
export function allRequest({ from, backwards = false, count }: PageRequest, filter?: PrefixFilter): ReadReq {
  return request(inAll(from, filter).setCount(`${count}`), backwards);
}

/** Returns the request for a catch-up subscription to `$all`. */
export function subscriptionRequest(from: ReadFrom, filter: PrefixFilter): ReadReq {
  return request(
    inAll(from, filter).setSubscription(new streamsPb.ReadReq.Options.SubscriptionOptions()),
    false,
  );
}

/** Reads the newest record of the whole log. */
export const HEAD_REQUEST = allRequest({ from: 'end', backwards: true, count: 1 });

function inAll(from: ReadFrom, filter: PrefixFilter | undefined): ReadReq.Options {
  const all = new streamsPb.ReadReq.Options.AllOptions();
  if (from === 'start') all.setStart(new sharedPb.Empty());
  else if (from === 'end') all.setEnd(new sharedPb.Empty());
  else all.setPosition(positionMessage(from));
  const options = new streamsPb.ReadReq.Options().setAll(all);
  if (filter === undefined) return options;
  const expression = new streamsPb.ReadReq.Options.FilterOptions.Expression().setPrefixList([filter.prefix]);
  return options.setFilter(
    new streamsPb.ReadReq.Options.FilterOptions()
      .setStreamIdentifier(expression)
      .setMax(filter.window)
      .setCheckpointintervalmultiplier(filter.checkpointEvery),
  );
}

function positionMessage(position: bigint) {
  return new streamsPb.ReadReq.Options.Position()
    .setCommitPosition(position.toString())
    .setPreparePosition(position.toString());
}

function request(options: ReadReq.Options, backwards: boolean): ReadReq {
  const { FORWARDS, BACKWARDS } = streamsPb.ReadReq.Options.ReadDirection;
  const uuids = new streamsPb.ReadReq.Options.UUIDOption().setString(new sharedPb.Empty());
  if (!options.hasFilter()) options.setNoFilter(new sharedPb.Empty());
  return new streamsPb.ReadReq().setOptions(
    options.setUuidOption(uuids).setReadDirection(backwards ? BACKWARDS : FORWARDS),
  );
}

export type ReadSettings = {
  readonly requiresLeader: boolean;
  /** Milliseconds for finding a channel. */
  readonly connectMs: number;
  /** Channel of the read. Default: the current channel. */
  readonly on?: Channel;
  /** True if the call ends by itself, and so its node must answer. */
  readonly ends: boolean;
};

/** Starts a read. Rejects if no channel is found in time. */
export async function openRead(
  { channel, stub, callArguments }: NodeClient,
  message: ReadReq,
  { requiresLeader, connectMs, on: given, ends }: ReadSettings,
) {
  const on = given ?? (await withDeadline(channel.current(), connectMs));
  const stream = stub(streamsGrpc.StreamsClient, on).read(message, ...callArguments({ requiresLeader }));
  // The listener stays for the life of the stream, because a failure after the last message must not end the process.
  stream.on('error', () => undefined);
  const since = ends ? performance.now() : Number.POSITIVE_INFINITY;
  const ended = channel.watch({ on, since, end: (error) => stream.destroy(error) });
  return {
    stream,
    /** Cancels the call, and drops messages that still arrive. */
    cancel(): void {
      ended();
      stream.cancel();
    },
    /** Handles a failure of the call: gives up the channel if another node may answer. Returns the client's error for the failure. */
    failed(error: unknown): Error {
      const failure = failureOf(error as Error);
      if (isNodeLost(failure)) channel.lost(on, failure);
      return failure;
    },
  };
}

/** Makes the read and collects its events. If no message arrives for `silenceMs`, the read fails and its node is given up. */
export async function readEvents(
  node: NodeClient,
  message: ReadReq,
  silenceMs: number,
  on?: Channel,
): Promise<readonly Recorded[]> {
  const settings = { requiresLeader: true, connectMs: silenceMs, ends: true, ...(on && { on }) };
  const call = await openRead(node, message, settings);
  try {
    return await collect(call.stream, silenceMs);
  } catch (error) {
    throw call.failed(error);
  } finally {
    call.cancel();
  }
}

function collect(stream: ClientReadableStream<ReadResp>, silenceMs: number): Promise<readonly Recorded[]> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const records: RecordMessage[] = [];
  const silence = setTimeout(() => reject(new DeadlinePassed(silenceMs)), silenceMs);
  stream.on('data', (message: ReadResp) => {
    silence.refresh();
    // Other messages report, for instance, that the stream does not exist.
    const record = message.getEvent()?.getEvent();
    if (record !== undefined) records.push(record);
  });
  stream.on('end', () => resolve());
  stream.on('error', reject);
  return promise.then(() => records.map(recordedOf)).finally(() => clearTimeout(silence));
}
