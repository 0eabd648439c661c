import { type Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsPb, {
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import recordsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_grpc_pb.js';
import recordsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import {
  allRequest,
  type PageRequest,
  type ReadFrom,
  streamRequest,
  subscriptionRequest,
} from '../../../shared/event-store/kurrentdb/kurrentdb-read.ts';

/** Asks a node the questions of the recordings, with the protocol's messages and without the adapter. */

export type Expected = 'none' | bigint;
export type AskedEvent = { readonly id: string; readonly bytes?: number };
export type Ask = ReturnType<typeof askNode>;

/** Milliseconds of silence after which an answer without a message, or one that does not end, is complete. */
const FIRST_MS = 3_000;
const QUIET_MS = 300;
/** Milliseconds to wait for each message that a recorded answer has. */
const EXPECTED_MS = 90_000;

export const askNode = (port: number) => {
  const insecure = credentials.createInsecure();
  const options = { 'grpc.max_send_message_length': -1, 'grpc.use_local_subchannel_pool': 1 };
  const streams = new streamsGrpc.StreamsClient(`127.0.0.1:${port}`, insecure, options);
  const records = new recordsGrpc.StreamsServiceClient(`127.0.0.1:${port}`, insecure, options) as Client & {
    appendRecords(
      request: InstanceType<typeof recordsPb.AppendRecordsRequest>,
      answer: (error: ServiceError | null, response?: { toObject(): unknown }) => void,
    ): void;
  };
  let expected = 0;
  const collect = <Message>(
    call: Stream<Message>,
    present: (message: Message) => unknown,
    quietMs = QUIET_MS,
  ): Promise<unknown[]> => collectAnswer(call, present, { quietMs, expected });
  return {
    /** Sets the number of messages that the next answers have. Silence before them does not end an answer on a slow machine. */
    expect(messages: number) {
      expected = messages;
    },
    close() {
      streams.close();
      records.close();
    },
    /** `quietMs`: milliseconds of silence after which an answer that does not end is complete. */
    read: (request: ReadReq, leader = false, quietMs = QUIET_MS) =>
      collect<ReadResp>(streams.read(request, metadata(leader)), messageOf, quietMs),
    append(stream: string, expected: Expected, events: readonly AskedEvent[], leader = false) {
      return new Promise((resolve) => {
        const call = streams.append(metadata(leader), (error, response) =>
          resolve(error === null ? appendedOf(response) : { error: errorOf(error) }),
        );
        const options = new streamsPb.AppendReq.Options().setStreamIdentifier(identifier(stream));
        if (expected === 'none') options.setNoStream(new sharedPb.Empty());
        else options.setRevision(`${expected}`);
        call.write(new streamsPb.AppendReq().setOptions(options));
        for (const event of events) call.write(new streamsPb.AppendReq().setProposedMessage(proposed(event)));
        call.end();
      });
    },
    remove(stream: string, how: 'soft' | 'for good') {
      return new Promise((resolve) => {
        const answer = (error: ServiceError | null, response?: { toObject(): unknown }) =>
          resolve(error === null ? defined(response?.toObject()) : { error: errorOf(error) });
        if (how === 'soft') {
          const options = new streamsPb.DeleteReq.Options().setStreamIdentifier(identifier(stream));
          streams.delete(new streamsPb.DeleteReq().setOptions(options.setAny(new sharedPb.Empty())), answer);
        } else {
          const options = new streamsPb.TombstoneReq.Options().setStreamIdentifier(identifier(stream));
          streams.tombstone(
            new streamsPb.TombstoneReq().setOptions(options.setAny(new sharedPb.Empty())),
            answer,
          );
        }
      });
    },
    batch(writes: readonly (readonly [stream: string, expected: Expected, events: readonly AskedEvent[]])[]) {
      const call = streams.batchAppend(metadata(false));
      for (const [stream, expected, events] of writes) {
        const options = new streamsPb.BatchAppendReq.Options().setStreamIdentifier(identifier(stream));
        if (expected === 'none') options.setNoStream(new emptyPb.Empty());
        else options.setStreamPosition(`${expected}`);
        const request = new streamsPb.BatchAppendReq().setOptions(options).setIsFinal(true);
        request.setCorrelationId(new sharedPb.UUID().setString(crypto.randomUUID()));
        request.setProposedMessagesList(events.map(batched));
        call.write(request);
      }
      return collect<BatchAppendResp>(call as never, (answer) => batchAnswerOf(answer));
    },
    appendRecords(
      rows: readonly (readonly [stream: string, event: AskedEvent])[],
      checks: readonly (readonly [stream: string, state: bigint])[],
    ) {
      const request = new recordsPb.AppendRecordsRequest();
      for (const [stream, event] of rows) request.addRecords(recordOf(stream, event));
      for (const [stream, state] of checks) {
        const check = new recordsPb.ConsistencyCheck.StreamStateCheck()
          .setStream(stream)
          .setExpectedState(`${state}`);
        request.addChecks(new recordsPb.ConsistencyCheck().setStreamState(check));
      }
      return new Promise((resolve) => {
        records.appendRecords(request, (error, response) =>
          resolve(error === null ? response?.toObject() : { error: errorOf(error) }),
        );
      });
    },
  };
};

/** Makes requests for the streams with a prefix; for all streams without one. */
export const requestTo = (prefix: string | undefined) => {
  const filter = prefix === undefined ? undefined : { prefix, window: 1_000, checkpointEvery: 10 };
  return {
    page: (page: PageRequest) => allRequest(page, filter),
    stream: streamRequest,
    subscription(from: ReadFrom): ReadReq {
      const request = subscriptionRequest(from, filter ?? { prefix: '', window: 1_000, checkpointEvery: 10 });
      if (filter === undefined) request.getOptions()?.setNoFilter(new sharedPb.Empty());
      return request;
    },
  };
};

const metadata = (leader: boolean): Metadata => {
  const made = new Metadata();
  if (leader) made.set('requires-leader', 'true');
  return made;
};

const identifier = (stream: string) => new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream));

const dataOf = ({ bytes = 10 }: AskedEvent): Buffer => Buffer.from(JSON.stringify({ n: 'x'.repeat(bytes) }));

const proposed = (event: AskedEvent) => {
  const message = new streamsPb.AppendReq.ProposedMessage();
  message.setId(new sharedPb.UUID().setString(event.id)).setData(dataOf(event));
  message.getMetadataMap().set('type', 'x').set('content-type', 'application/json');
  return message;
};

const batched = (event: AskedEvent) => {
  const message = new streamsPb.BatchAppendReq.ProposedMessage();
  message.setId(new sharedPb.UUID().setString(event.id)).setData(dataOf(event));
  message.getMetadataMap().set('type', 'x').set('content-type', 'application/json');
  return message;
};

const recordOf = (stream: string, event: AskedEvent) =>
  new recordsPb.AppendRecord()
    .setStream(stream)
    .setRecordId(event.id)
    .setData(dataOf(event))
    .setSchema(new recordsPb.SchemaInfo().setName('x').setFormat(1));

type Stream<Message> = {
  on(event: 'data', listener: (message: Message) => void): void;
  on(event: 'end', listener: () => void): void;
  on(event: 'error', listener: (error: ServiceError) => void): void;
  cancel(): void;
};

/** Collects an answer: its messages, then `end` or an error. A call that stays open counts as complete after some silence. */
const collectAnswer = <Message>(
  call: Stream<Message>,
  present: (message: Message) => unknown,
  { quietMs, expected }: { readonly quietMs: number; readonly expected: number },
): Promise<unknown[]> =>
  new Promise((resolve) => {
    const got: unknown[] = [];
    let done = false;
    const finish = () => {
      done = true;
      clearTimeout(quiet);
      call.cancel();
      resolve(got);
    };
    let quiet = setTimeout(finish, expected > 0 ? EXPECTED_MS : FIRST_MS);
    call.on('data', (message) => {
      if (done) return;
      clearTimeout(quiet);
      got.push(present(message));
      quiet = setTimeout(finish, got.length < expected ? EXPECTED_MS : quietMs);
    });
    call.on('end', () => {
      if (!done) got.push({ end: true });
      finish();
    });
    call.on('error', (error) => {
      if (done) return;
      got.push({ error: errorOf(error) });
      finish();
    });
  });

const errorOf = ({ code, details, metadata: trailers }: ServiceError) => {
  const entries = Object.entries(trailers.getMap());
  const text = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [status] = trailers.get('grpc-status-details-bin');
  return {
    code,
    details,
    ...(status === undefined
      ? { trailers: Object.fromEntries(text) }
      : { 'grpc-status-details-bin': { base64: Buffer.from(status).toString('base64') } }),
  };
};

/** Presents a message as the recordings do: members that the message has. */
const messageOf = (message: ReadResp): unknown => {
  const record = message.getEvent()?.getEvent();
  if (record !== undefined)
    return {
      event: {
        stream: Buffer.from(record.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
        revision: record.getStreamRevision(),
        commit: record.getCommitPosition(),
        prepare: record.getPreparePosition(),
        metadata: Object.fromEntries(record.getMetadataMap().toArray()),
      },
    };
  // These two are numbers, so a message always has them. The recordings omit them.
  const { firstStreamPosition: _first, lastStreamPosition: _last, ...members } = message.toObject();
  return defined(members);
};

/** Removes members that a message does not have. The generated classes give them as undefined, or as an empty list. */
const defined = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(defined);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, defined(member)]),
  );
};

const appendedOf = (response: unknown): unknown => defined((response as { toObject(): unknown }).toObject());

const batchAnswerOf = (answer: BatchAppendResp): unknown => defined(answer.toObject());
