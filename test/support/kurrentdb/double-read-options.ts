import type { EventEmitter } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type {
  ReadReq,
  ReadResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { DoubleLog } from './double-log.ts';
import { invalidPositionError } from './double-messages.ts';
import type { LogRecord } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';

/** Code that pages and subscriptions share: it sends records, and interprets the options of a read. */

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Sends a message. Resolves when the caller can receive more. */
export const send = async (call: ReadCall, message: ReadResp): Promise<void> => {
  if (call.write(message) || call.cancelled) return;
  await firstOf(call, ['drain', 'cancelled', 'close']);
};

/** Resolves with the first of these events, and leaves no listener behind. */
export const firstOf = (emitter: EventEmitter, events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      for (const event of events) emitter.off(event, settle);
      resolve();
    };
    for (const event of events) emitter.on(event, settle);
  });

export const uuidOption = (options: ReadReq.Options) =>
  options.getUuidOption() ?? new streamsPb.ReadReq.Options.UUIDOption();

export const positionOf = (from: ReadReq.Options.AllOptions): bigint =>
  BigInt(from.getPosition()?.getCommitPosition() ?? 0);

/** Returns the index of the first record at or after a position, or the number of records if there is none. */
export const indexFrom = (records: DoubleLog['records'], position: bigint): number => {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records.at(middle) as LogRecord).position < position) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Returns the index of the record at a position. Refuses a position between records (Enumerator.ReadAllForwardsFiltered.cs). */
export const indexAt = ({ log, server }: DoubleServices, position: bigint): number => {
  const index = indexFrom(log.records, position);
  const record = log.records.at(index);
  if (index < log.records.length && record?.position !== position) throw invalidPositionError(server);
  return index;
};

/** Returns a function that is true for the records that the read shows. No read shows records that a scavenge removed. */
export const createFilter = (log: DoubleLog, options: ReadReq.Options): ((record: LogRecord) => boolean) => {
  const matches = createExpression(options);
  return (record) => matches(record) && !log.isScavenged(record);
};

const createExpression = (options: ReadReq.Options): ((record: LogRecord) => boolean) => {
  const filter = options.getFilter();
  if (filter === undefined) return () => true;
  const byType = filter.getEventType();
  const expression = byType ?? filter.getStreamIdentifier();
  const text = (record: LogRecord) => (byType === undefined ? record.stream : record.type);
  const regex = expression?.getRegex() ?? '';
  const prefixes = expression?.getPrefixList() ?? [];
  if (regex !== '') return (record) => new RegExp(regex).test(text(record));
  return (record) => prefixes.some((prefix) => text(record).startsWith(prefix));
};

/**
 * Events of one page of a read, and its search window unless the caller gives one (DefaultReadBatchSize in Enumerator.cs).
 */
export const DEFAULT_READ_BATCH_SIZE = 32;

/** Page of a filtered read, like that of AllReader.ReadAllEventsForwardInternal. */
export type Page = {
  readonly events: readonly LogRecord[];
  /** Number of records that the search looked at. */
  readonly considered: number;
  readonly next: number;
  readonly isEnd: boolean;
};

/** Returns at most `count` matching records from an index on. Looks at most at `window` records. */
export const searchPage = (
  records: DoubleLog['records'],
  from: number,
  { matches, count, window }: { matches: (record: LogRecord) => boolean; count: number; window: number },
): Page => {
  const events: LogRecord[] = [];
  let next = from;
  let considered = 0;
  while (events.length < count && considered < window && next < records.length) {
    const record = records.at(next) as LogRecord;
    const isMatch = matches(record);
    if (isMatch) events.push(record);
    const passed = isMatch ? 1 : Math.min(records.alike(next), window - considered);
    next += passed;
    considered += passed;
  }
  return {
    events,
    considered,
    next,
    isEnd: next >= records.length && considered < window && events.length < count,
  };
};
