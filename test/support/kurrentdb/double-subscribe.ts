import { status } from '@grpc/grpc-js';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { LogRecord } from './double-log.ts';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  rpcError,
} from './double-messages.ts';
import {
  createFilter,
  firstOf,
  indexOf,
  positionOf,
  type ReadCall,
  send,
  uuidOption,
} from './double-read-options.ts';
import type { DoubleServices } from './double-services.ts';

const DEFAULT_SEARCH_WINDOW = 32;

/**
 * A catch-up subscription to `$all`: what is behind the given position, then what is written, and checkpoints, which on the
 * server name positions it has looked at, matching or not, so that they run ahead of the events.
 */
export const serveSubscription = async (
  services: DoubleServices,
  call: ReadCall,
  options: ReadReq.Options,
): Promise<void> => {
  const { log, observed } = services;
  const fault = await services.enter('subscribe', call.metadata);
  const all = options.getAll() as ReadReq.Options.AllOptions;
  const filter = options.getFilter();
  const matches = createFilter(options);
  const window = filter?.getMax() || DEFAULT_SEARCH_WINDOW;
  const interval = window * (filter?.getCheckpointintervalmultiplier() ?? 1);
  await send(call, confirmationResponse(crypto.randomUUID()));
  let next = startOf(services, all);
  observed.starts.push(all.hasPosition() ? positionOf(all) : undefined);
  let sent = 0;
  let looked = 0;
  while (!call.cancelled) {
    const record = log.records[next];
    if (record === undefined) {
      if (looked > 0) await send(call, checkpointResponse((log.records[next - 1] as LogRecord).position));
      looked = 0;
      await waitForMore(services, call, next);
      continue;
    }
    next += 1;
    looked += 1;
    if (matches(record)) {
      if (fault?.kind === 'drop' && sent === fault.afterEvents) {
        throw rpcError(status.UNAVAILABLE, 'subscription dropped');
      }
      observed.eventsSent += 1;
      await sendWatched(services, call, eventResponse(record, uuidOption(options)), next);
      sent += 1;
    }
    if (looked % interval === 0) await send(call, checkpointResponse(record.position));
  }
};

const waitForMore = async ({ log }: DoubleServices, call: ReadCall, next: number): Promise<void> => {
  await send(call, caughtUpResponse());
  if (log.records.length > next || call.cancelled) return;
  const wake = () => call.emit('wake');
  log.growth.once('written', wake);
  await firstOf(call, ['wake', 'cancelled']);
  log.growth.off('written', wake);
};

const startOf = ({ log }: DoubleServices, all: ReadReq.Options.AllOptions): number => {
  if (all.hasStart()) return 0;
  if (all.hasEnd()) return log.records.length;
  const index = indexOf(log.records, positionOf(all));
  return Math.min(index + 1, log.records.length);
};

/** Sends, and drops a subscriber that does not take the message while the log grows by more than it may lag. */
const sendWatched = async (
  { log, dropSlowAfter }: DoubleServices,
  call: ReadCall,
  message: ReturnType<typeof eventResponse>,
  next: number,
): Promise<void> => {
  let dropped = false;
  const watch = () => {
    if (log.records.length - next <= dropSlowAfter) return;
    dropped = true;
    call.emit('drain');
  };
  log.growth.on('written', watch);
  try {
    await send(call, message);
  } finally {
    log.growth.off('written', watch);
  }
  if (dropped) throw rpcError(status.ABORTED, 'Operation timed out: consumer is too slow');
};
