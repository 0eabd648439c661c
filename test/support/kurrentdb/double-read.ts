import { status } from '@grpc/grpc-js';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import {
  eventResponse,
  rpcError,
  streamDeletedError,
  streamName,
  streamNotFoundResponse,
} from './double-messages.ts';
import {
  createFilter,
  DEFAULT_READ_BATCH_SIZE,
  indexAt,
  positionOf,
  type ReadCall,
  searchPage,
  send,
  uuidOption,
} from './double-read-options.ts';
import type { LogRecord } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';
import { serveSubscription } from './double-subscribe.ts';

/** Serves `Read`: pages of a stream or of `$all`, in both directions, filtered or not, and subscriptions to `$all`. */
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
    ? pageOfAll(services, options)
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
  const first = records[0]?.revision ?? 0n;
  if (backwards) {
    const end = from.hasEnd() ? undefined : Math.max(0, Number(revision - first) + 1);
    return records.slice(0, end).toReversed();
  }
  return from.hasStart() || revision < first ? records : records.slice(Number(revision - first));
};

/** Reads pages until there are enough events or the log ends, like Enumerator.ReadAllForwardsFiltered.cs. */
const pageOfAll = (services: DoubleServices, options: ReadReq.Options): readonly LogRecord[] => {
  const { log, observed } = services;
  const { records } = log;
  const matches = createFilter(log, options);
  const from = options.getAll() as ReadReq.Options.AllOptions;
  const most = Number(options.getCount());
  if (isBackwards(options)) {
    const end = from.hasEnd() ? records.length : indexAt(services, positionOf(from));
    return newestOf(services, matches, most, end);
  }
  const window = options.getFilter()?.getMax() || DEFAULT_READ_BATCH_SIZE;
  const found: LogRecord[] = [];
  for (let next = from.hasStart() ? 0 : indexAt(services, positionOf(from)); ; ) {
    const page = searchPage(records, next, {
      matches,
      count: Math.min(DEFAULT_READ_BATCH_SIZE, most),
      window,
    });
    observed.scanned += page.considered;
    found.push(...page.events);
    next = page.next;
    if (page.isEnd || found.length >= most || next >= records.length) return found;
  }
};

const newestOf = (
  { log: { records }, observed }: DoubleServices,
  matches: (record: LogRecord) => boolean,
  most: number,
  end: number,
): readonly LogRecord[] => {
  const found: LogRecord[] = [];
  for (let n = end - 1; n >= 0 && found.length < most; n -= 1) {
    const record = records.at(n) as LogRecord;
    observed.scanned += 1;
    if (matches(record)) found.push(record);
  }
  return found;
};
