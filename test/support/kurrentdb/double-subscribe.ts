import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { ReadReq } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  invalidStartError,
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
  const fault = await services.enter('subscribe', call.metadata).catch((error: ServiceError) => {
    // A node that is not the leader confirms a subscription before it refuses it.
    if (error.code === status.NOT_FOUND) call.write(confirmationResponse(crypto.randomUUID()));
    throw error;
  });
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
    next: 0,
    checkpoint: startPosition(options),
    prepare: startPosition(options) ?? 0n,
    sent: 0,
  };
  await send(call, confirmationResponse(crypto.randomUUID()));
  search.next = startOf(services, all);
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
  /** Prepare position of the checkpoint. */
  prepare: bigint;
  sent: number;
};

const catchUp = async (search: Search): Promise<void> => {
  const { services, call, options, matches, window, interval } = search;
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
    // A report between events names a commit position only. The first one is where the search began.
    if (search.checkpoint === undefined) await sendCheckpoint(search, 0n, 0n);
    await sendCheckpoint(search, records.at(first)?.position ?? 0n, 0n);
  }
  if (!options.hasFilter() || search.checkpoint === startPosition(options)) {
    if (options.hasFilter() && options.getAll()?.hasStart()) await sendNoCheckpoint(search);
    return;
  }
  await sendCheckpoint(search, search.checkpoint ?? 0n, search.prepare);
};

/** Reports that nothing was found yet. Up to 24.10 a server sends the largest number for "none". */
const sendNoCheckpoint = async ({ services: { server, observed }, call }: Search): Promise<void> => {
  observed.checkpointsSent += 1;
  const none = server === '24.2' ? NONE : 0n;
  await send(call, checkpointResponse({ position: none, prepare: none }, server));
};

const NONE = 2n ** 64n - 1n;

const goLive = async (search: Search): Promise<void> => {
  const { services, call, matches, interval } = search;
  const last = services.log.records.at(-1)?.position ?? 0n;
  const at = search.checkpoint ?? (search.options.getAll()?.hasEnd() ? last : 0n);
  const prepare = search.checkpoint === undefined ? at : search.prepare;
  await send(call, caughtUpResponse({ position: at, prepare }, services.server));
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
    await sendCheckpoint(search, services.log.records.at(search.next - 1)?.position ?? 0n, 0n);
  }
};

const startPosition = (options: ReadReq.Options): bigint | undefined => {
  const all = options.getAll();
  return all?.hasPosition() ? positionOf(all) : undefined;
};

const sendCheckpoint = async (search: Search, position: bigint, prepare: bigint): Promise<void> => {
  if (position < (search.checkpoint ?? 0n)) return;
  search.checkpoint = position;
  search.prepare = prepare;
  search.services.observed.checkpointsSent += 1;
  await send(search.call, checkpointResponse({ position, prepare }, search.services.server));
};

const sendEvent = async (search: Search, record: LogRecord): Promise<void> => {
  const { services, call, options } = search;
  if (search.sent === search.drop) throw rpcError(status.UNAVAILABLE, 'subscription dropped');
  if (services.checkpointsAhead) await sendCheckpoint(search, record.position, record.position);
  services.observed.eventsSent += 1;
  search.sent += 1;
  search.checkpoint = record.position;
  search.prepare = record.position;
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
  const index = indexFrom(log.records, positionOf(all));
  if (index === log.records.length) return index;
  if (log.records.at(index)?.position !== positionOf(all)) throw invalidStartError();
  return index + 1;
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
