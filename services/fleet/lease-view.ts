import { setMaxListeners } from 'node:events';
import { createCondition } from '../../shared/condition.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { stateAfterAll, stopsReaders } from '../../shared/event-store/unreadable.ts';
import { evolveLease, type Lease, NO_LEASE } from '../../shared/fleet/lease.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';

/** The lease, as far as this process has read the log. */
export type LeaseView = ReturnType<typeof createLeaseView>;

/** Reads the lease at the end of the log. Rejects with UnreadableEvent if its stream has an event that this program cannot read. */
export function readLease(log: EventStore, space: string, from = NO_LEASE): Promise<Lease> {
  const next = from.revision === undefined ? 0n : from.revision + 1n;
  return stateAfterAll(log.readStream(leaseStream(space), next), from, evolveLease);
}

/** Reads the lease before the first event of its stream that this program cannot read. */
export async function readLeaseUpTo(log: EventStore, space: string): Promise<Lease> {
  let lease = NO_LEASE;
  for await (const event of log.readStream(leaseStream(space))) {
    if (stopsReaders(event)) break;
    lease = evolveLease(lease, event);
  }
  return lease;
}

/**
 * Rejects with a message if the stream of the lease lacks a claim that the log had. `epoch` is that of the newest claim that the graph has
 * applied. A new claim with a used epoch would fence off its own writes.
 */
export async function assertWholeLease(log: EventStore, space: string, epoch: number): Promise<void> {
  const lease = await readLeaseUpTo(log, space);
  if (lease.epoch >= epoch) return;
  const stream = leaseStream(space);
  throw new Error(
    `the stream ${stream} ends with the claim of epoch ${lease.epoch}, and the log had one of epoch ${epoch}: the stream was deleted or truncated in the event log. Take $tb, $maxCount and $maxAge out of its metadata, or restore a backup of the log`,
  );
}

/**
 * Creates a view of the lease. `start` is the lease at a position of the log. `apply` must get all events after that position. Earlier
 * events have no effect.
 */
export function createLeaseView(space: string, start: Lease) {
  const stream = leaseStream(space);
  let lease = start;
  let sign = performance.now();
  let term = newTerm();
  let wakes = 0;
  const woken = createCondition();
  const wake = () => {
    wakes++;
    woken.check();
  };
  return {
    current: () => lease,
    /** Returns the time of the last event of the current leader, or of its claim, in milliseconds of `performance.now()`. */
    lastSign: () => sign,
    /** Returns a signal that is aborted as soon as the lease changes. */
    term: () => term.signal,
    /** Wakes all waiting callers. */
    wake,
    /** Applies the log's events, in order. */
    apply(events: readonly StoredEvent[]): void {
      const before = lease;
      for (const event of events) if (event.stream === stream) lease = evolveLease(lease, event);
      const isAlive = events.some(
        ({ metadata, unreadable }) => unreadable === undefined && metadata.epoch === lease.epoch,
      );
      if (isAlive || lease !== before) sign = performance.now();
      if (lease === before) return;
      term.abort();
      term = newTerm();
      wake();
    },
    /** Resolves when the lease has changed, and after `ms` at the latest. */
    async changed(ms: number): Promise<void> {
      const before = wakes;
      await woken.until(() => wakes !== before, ms);
    },
  };
}

/** Creates the controller of a term. Node would warn about many listeners, but any number of requests may use the signal. */
function newTerm(): AbortController {
  const term = new AbortController();
  setMaxListeners(0, term.signal);
  return term;
}
