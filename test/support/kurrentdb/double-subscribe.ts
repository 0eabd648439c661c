import { setImmediate as nextTurn } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  rpcError,
} from './double-messages.ts';
import {
  createFilter,
  DEFAULT_READ_BATCH_SIZE,
  firstOf,
  indexFrom,
  positionOf,
  type ReadCall,
  searchPage,
  send,
  uuidOption,
} from './double-read-options.ts';
import type { LogRecord } from './double-record.ts';
import type { DoubleServices } from './double-services.ts';

/**
 * Serves a catch-up subscription to `$all`, like Enumerator.AllSubscriptionFiltered.cs of 24.2. It sends pages of the
 * search window until the end of the log, with a checkpoint after each interval of records. At the end it repeats the
 * last checkpoint (which names no later record) and sends CaughtUp, then new records. It never reports a head that is
 * only a few foreign records further.
 */
export const serveSubscription = async (
  services: DoubleServices,
  call: ReadCall,
  options: ReadReq.Options,
): Promise<void> => {
  const { observed } = services;
  const fault = await services.enter('subscribe', call.metadata);
  const all = options.getAll() as ReadReq.Options.AllOptions;
  const window = options.getFilter()?.getMax() || DEFAULT_READ_BATCH_SIZE;
  const search: Search = {
    services,
    call,
    options,
    matches: createFilter(services.log, options),
    window,
    interval: window * (options.getFilter()?.getCheckpointintervalmultiplier() ?? 1),
    drop: fault?.kind === 'drop' ? fault.afterEvents : undefined,
    next: startOf(services, all),
    checkpoint: all.hasPosition() ? positionOf(all) : undefined,
    sent: 0,
  };
  await send(call, confirmationResponse(crypto.randomUUID()));
  observed.starts.push(all.hasPosition() ? positionOf(all) : undefined);
  await catchUp(search);
  await goLive(search);
};

type Search = {
  readonly services: DoubleServices;
  readonly call: ReadCall;
  readonly options: ReadReq.Options;
  readonly matches: (record: LogRecord) => boolean;
  readonly window: number;
  readonly interval: number;
  /** The call is dropped after so many events. */
  readonly drop: number | undefined;
  /** Index of the next record. */
  next: number;
  /** The last position that was sent, with an event or as a checkpoint. */
  checkpoint: bigint | undefined;
  sent: number;
};

const catchUp = async (search: Search): Promise<void> => {
  const { services, call, matches, window, interval } = search;
  const { records } = services.log;
  for (let counter = 0; !call.cancelled; ) {
    const first = search.next;
    const page = searchPage(records, first, { matches, count: DEFAULT_READ_BATCH_SIZE, window });
    services.observed.scanned += page.considered;
    search.next = page.next;
    for (const event of page.events) await sendEvent(search, event);
    counter += page.considered;
    if (page.isEnd || search.next >= records.length) break;
    if (counter < interval) continue;
    counter %= interval;
    // Lets other calls run between pages, as a server does. A cancelled call ends the search.
    await nextTurn();
    await sendCheckpoint(search, records.at(first)?.position ?? 0n);
  }
  await sendCheckpoint(search, search.checkpoint ?? 0n);
};

const goLive = async (search: Search): Promise<void> => {
  const { services, call, matches, interval } = search;
  await send(call, caughtUpResponse());
  for (let counter = 0; !call.cancelled; ) {
    const record = services.log.records.at(search.next);
    if (record === undefined) {
      await waitForMore(services, call, search.next);
      continue;
    }
    if (matches(record)) {
      search.next += 1;
      await sendEvent(search, record);
      continue;
    }
    // The server counts the records that the filter refuses (SubscriptionsService.cs).
    const passed = Math.min(services.log.records.alike(search.next), interval - counter);
    search.next += passed;
    counter += passed;
    if (counter < interval) continue;
    counter = 0;
    await sendCheckpoint(search, services.log.records.at(search.next - 1)?.position ?? 0n);
  }
};

const sendCheckpoint = async (search: Search, position: bigint): Promise<void> => {
  if (position === 0n || position < (search.checkpoint ?? 0n)) return;
  search.checkpoint = position;
  search.services.observed.checkpointsSent += 1;
  await send(search.call, checkpointResponse(position));
};

const sendEvent = async (search: Search, record: LogRecord): Promise<void> => {
  const { services, call, options } = search;
  if (search.sent === search.drop) throw rpcError(status.UNAVAILABLE, 'subscription dropped');
  services.observed.eventsSent += 1;
  search.sent += 1;
  search.checkpoint = record.position;
  await sendWatched(services, call, eventResponse(record, uuidOption(options)), search.next);
};

const waitForMore = async ({ log }: DoubleServices, call: ReadCall, next: number): Promise<void> => {
  if (log.records.length > next || call.cancelled) return;
  const wake = () => call.emit('wake');
  log.growth.once('written', wake);
  await firstOf(call, ['wake', 'cancelled']);
  log.growth.off('written', wake);
};

const startOf = ({ log }: DoubleServices, all: ReadReq.Options.AllOptions): number => {
  if (all.hasStart()) return 0;
  if (all.hasEnd()) return log.records.length;
  // Unlike a read, a subscription accepts a position between records (seen on 24.2).
  const index = indexFrom(log.records, positionOf(all));
  return log.records.at(index)?.position === positionOf(all) ? index + 1 : index;
};

/** Sends a message. Drops a subscriber that does not receive it while `dropSlowAfter` events are written. */
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
