import { status } from '@grpc/grpc-js';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { LogRecord } from './double-log.ts';
import {
  eventResponse,
  rpcError,
  streamDeletedError,
  streamName,
  streamNotFoundResponse,
} from './double-messages.ts';
import { createFilter, indexOf, positionOf, type ReadCall, send, uuidOption } from './double-read-options.ts';
import type { DoubleServices } from './double-services.ts';
import { serveSubscription } from './double-subscribe.ts';

/** `Read`: pages of a stream or of `$all`, in both directions, filtered or not, and subscriptions to `$all`. */
export const readCall =
  (services: DoubleServices) =>
  async (call: ReadCall): Promise<void> => {
    try {
      const options = call.request.getOptions();
      if (options === undefined) throw rpcError(status.INVALID_ARGUMENT, 'options are missing');
      if (options.hasSubscription()) await serveSubscription(services, call, options);
      else await servePage(services, call, options);
      call.end();
    } catch (error) {
      if (!call.cancelled) call.emit('error', error);
    }
  };

const servePage = async (
  services: DoubleServices,
  call: ReadCall,
  options: ReadReq.Options,
): Promise<void> => {
  const fault = await services.enter('read', call.metadata);
  const records = options.hasAll()
    ? pageOfAll(services.log.records, options)
    : pageOfStream(services, options.getStream() as ReadReq.Options.StreamOptions, isBackwards(options));
  if (records === undefined) {
    call.write(streamNotFoundResponse(streamName(options.getStream()?.getStreamIdentifier())));
    return;
  }
  const count = Number(options.getCount());
  for (const [n, record] of records.slice(0, count).entries()) {
    if (fault?.kind === 'drop' && n === fault.afterEvents) throw rpcError(status.UNAVAILABLE, 'call dropped');
    if (call.cancelled) return;
    await send(call, eventResponse(record, uuidOption(options)));
  }
};

const isBackwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;

const pageOfStream = (
  { log }: DoubleServices,
  from: ReadReq.Options.StreamOptions,
  backwards: boolean,
): readonly LogRecord[] | undefined => {
  const stream = streamName(from.getStreamIdentifier());
  if (log.isTombstoned(stream)) throw streamDeletedError(stream);
  const records = log.read(stream);
  if (records === undefined) return undefined;
  const revision = BigInt(from.getRevision());
  if (backwards) return records.slice(0, from.hasEnd() ? undefined : Number(revision) + 1).toReversed();
  return from.hasStart() ? records : records.slice(Number(revision));
};

const pageOfAll = (records: readonly LogRecord[], options: ReadReq.Options): readonly LogRecord[] => {
  const matches = createFilter(options);
  const from = options.getAll() as ReadReq.Options.AllOptions;
  if (isBackwards(options)) {
    if (!from.hasEnd()) throw rpcError(status.UNIMPLEMENTED, 'the double reads $all backwards from its end');
    return records.filter(matches).slice(-Number(options.getCount())).toReversed();
  }
  const page: LogRecord[] = [];
  for (let n = from.hasStart() ? 0 : indexOf(records, positionOf(from)); n < records.length; n += 1) {
    const record = records[n] as LogRecord;
    if (matches(record)) page.push(record);
    if (page.length === Number(options.getCount())) break;
  }
  return page;
};
