import type { EventEmitter } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type {
  ReadReq,
  ReadResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { LogRecord } from './double-log.ts';
import { invalidPositionError } from './double-messages.ts';

/** What pages and subscriptions share: sending, and what a read asks for. */

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Resolves when the caller has room for more. */
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

/** The record at this position; behind the end the number of records. A position between records is refused, as there. */
export const indexOf = (records: readonly LogRecord[], position: bigint): number => {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle] as LogRecord).position < position) low = middle + 1;
    else high = middle;
  }
  if (low < records.length && records[low]?.position !== position) throw invalidPositionError();
  return low;
};

export const createFilter = (options: ReadReq.Options): ((record: LogRecord) => boolean) => {
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
