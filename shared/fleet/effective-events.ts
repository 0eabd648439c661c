import type { EventStore, ReadAllOptions, StoredEvent, Subscription } from '../event-store/event-store.ts';
import { isForeign } from '../event-store/unreadable.ts';
import { createClaims } from './claims.ts';
import { leaseStream } from './lease-events.ts';

/** Events that were read together. */
export type EffectiveBatch = {
  /** The events that count. */
  readonly events: readonly StoredEvent[];
  /** Number of events that were read, with those that do not count. */
  readonly read: number;
  /** The log was read up to this position. */
  readonly upTo: bigint;
};

type ReadOptions = ReadAllOptions & {
  /** The last position to read. Default: the end of the log. */
  readonly until?: bigint;
};

/** Reader of the events that count. */
export type EffectiveEvents = ReturnType<typeof createEffectiveEvents>;

/**
 * Creates the reader of the events that count. It omits events of other programs, and events of a leader whose lease had ended. It does not
 * omit an event at which readers must stop (shared/event-store/unreadable.ts): the caller stops there.
 */
export function createEffectiveEvents(
  log: Pick<EventStore, 'readAll' | 'readStream' | 'lastPosition' | 'subscribe'>,
  space: string,
) {
  const claims = createClaims();
  let known = -1n;
  let next = 0n;
  let reading: Promise<void> | undefined;

  /** Reads the claims up to a position that the log has. Calls at the same time share one read. */
  async function readClaims(position: bigint): Promise<void> {
    if (position > known) await reading;
    if (position <= known) return;
    reading = readOn().finally(() => {
      reading = undefined;
    });
    await reading;
  }

  async function readOn(): Promise<void> {
    const end = await log.lastPosition();
    for await (const event of log.readStream(leaseStream(space), next)) {
      // Another call may have read this event in the meantime.
      if (event.revision < next) continue;
      next = event.revision + 1n;
      claims.add(event);
    }
    if (end > known) known = end;
  }

  /** Returns a filter of the events after a position. It must get all of them, in order. */
  async function filterAfter(position: bigint): Promise<(event: StoredEvent) => boolean> {
    await readClaims(position);
    const later = createClaims(claims.epochAt(position + 1n));
    return (event) => counts(event, later.add(event));
  }

  async function* batches(
    after: bigint,
    { until, ...options }: ReadOptions = {},
  ): AsyncGenerator<EffectiveBatch> {
    const filter = await filterAfter(after);
    let upTo = after;
    for await (const all of log.readAll(after, options)) {
      const read = until === undefined ? all : all.filter(({ position }) => position <= until);
      upTo = read.at(-1)?.position ?? upTo;
      yield { events: read.filter(filter), read: read.length, upTo };
      if (read.length < all.length || upTo === until) return;
    }
  }

  return {
    /** Reads the events after a position, in batches. */
    batches,
    /** Reads the events after a position, one by one. */
    async *after(position: bigint, options?: ReadOptions): AsyncGenerator<StoredEvent> {
      for await (const { events } of batches(position, options)) yield* events;
    },
    /** Reads the events of a stream from a revision on. `always` returns true for events that no claim ends. */
    async *stream(
      name: string,
      from?: bigint,
      always: (event: StoredEvent) => boolean = () => false,
    ): AsyncGenerator<StoredEvent> {
      for await (const event of log.readStream(name, from)) {
        await readClaims(event.position);
        if (counts(event, always(event) || claims.admits(event))) yield event;
      }
    },
    /** Calls `handle` with the events after a position, like `subscribe` of the log. */
    subscribe(
      after: bigint,
      handle: (batch: EffectiveBatch) => Promise<void>,
      options?: { readonly batchSize?: number },
    ): Subscription {
      let filter: ((event: StoredEvent) => boolean) | undefined;
      const take = async (read: readonly StoredEvent[], upTo: bigint) => {
        filter ??= await filterAfter(after);
        await handle({ events: read.filter(filter), read: read.length, upTo });
      };
      return log.subscribe(after, take, options);
    },
  };
}

function counts(event: StoredEvent, isAdmitted: boolean): boolean {
  return !isForeign(event) && (isAdmitted || event.unreadable !== undefined);
}
