import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';

/** Lag of the served content. */
export type ProjectionLag = {
  /** Number of unapplied events, counted up to COUNT_LIMIT. */
  readonly events: number;
  /** Age of the oldest unapplied event, by the clocks of its writer and of this process. */
  readonly seconds: number;
};

const NO_LAG: ProjectionLag = Object.freeze({ events: 0, seconds: 0 });
const COUNT_LIMIT = 5_000;

/**
 * Creates a view of the lag. Callers at the same time share one request to the log, because the gauges of a scrape are read together.
 * `applied` is read before the log, so an event that arrives in between counts as lag.
 */
export function createLagView(log: EventStore, applied: () => bigint, now: () => number) {
  const head = share(() => log.lastPosition());
  const lag = share(async () => {
    const from = applied();
    return (await head.ask()) <= from ? NO_LAG : countBehind(log, from, now);
  });
  const seconds = share(async () => {
    const from = applied();
    if ((await head.ask()) <= from) return 0;
    return (await lag.running())?.seconds ?? oldestBehind(log, from, now);
  });
  return {
    /** Returns the position of the log's last event, or a later one. */
    head: head.ask,
    lag: lag.ask,
    /** Returns the age of the oldest unapplied event. It usually reads one event, so a probe may call it often. */
    seconds: seconds.ask,
  };
}

/** Returns the same promise to all callers while the work is in progress. */
function share<T>(work: () => Promise<T>) {
  let running: Promise<T> | undefined;
  const ask = (): Promise<T> => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return { ask, running: () => running };
}

/** Counts the events after `applied`, up to 5,000 of them, by reading the log. `now` is in milliseconds since 1970. */
export async function measureLag(
  log: EventStore,
  applied: bigint,
  now: () => number,
): Promise<ProjectionLag> {
  return createLagView(log, () => applied, now).lag();
}

async function countBehind(log: EventStore, applied: bigint, now: () => number): Promise<ProjectionLag> {
  let events = 0;
  let oldest: number | undefined;
  for await (const event of readBehind(log, applied, 500)) {
    oldest ??= timeOf(event);
    if (++events === COUNT_LIMIT) break;
  }
  return { events, seconds: ageOf(oldest, now) };
}

async function oldestBehind(log: EventStore, applied: bigint, now: () => number): Promise<number> {
  for await (const event of readBehind(log, applied, 1)) {
    const time = timeOf(event);
    if (time !== undefined) return ageOf(time, now);
  }
  return 0;
}

/** Returns seconds. An event of an unknown time counts as new. */
function ageOf(time: number | undefined, now: () => number): number {
  return time === undefined ? 0 : Math.max(0, now() - time) / 1000;
}

/**
 * Range of the log without events of the namespace. It is remembered, so that records of others are searched once and not at each scrape.
 */
type Searched = { readonly after: bigint; readonly upTo: bigint };

const searchedOf = new WeakMap<EventStore, Searched>();

async function* readBehind(log: EventStore, applied: bigint, batchSize: number) {
  const known = searchedOf.get(log);
  const from = known?.after === applied ? known.upTo : applied;
  let isEmpty = true;
  const searched = (upTo: bigint) => {
    if (isEmpty) searchedOf.set(log, { after: applied, upTo });
  };
  for await (const event of rawEvents(log, from, { batchSize, searched })) {
    isEmpty = false;
    yield event;
  }
}

/** Returns milliseconds since 1970; undefined for an event of another program, whose time is not known. */
function timeOf({ metadata }: StoredEvent): number | undefined {
  const time = Date.parse(metadata.at);
  return Number.isNaN(time) ? undefined : time;
}
