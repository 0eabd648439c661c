import { createCondition } from '../condition.ts';
import type { EventStore, StoredEvent } from './event-store.ts';
import { subscribeToRaw } from './raw-events.ts';
import { isForeign, refuseUnreadable } from './unreadable.ts';

/** State that the events of one stream add up to. */
type StreamState = {
  /** Revision of the last event; undefined if the stream does not exist. */
  readonly revision: bigint | undefined;
};

type Evolve<State> = (state: State, event: StoredEvent) => State;

/**
 * Returns the state after an event of its stream. An event that was applied before changes nothing, and an event that another program wrote
 * changes only the revision. Throws UnreadableEvent for an event that stops readers.
 */
export function evolveStream<State extends StreamState>(
  state: State,
  event: StoredEvent,
  evolve: Evolve<State>,
): State {
  const { revision } = event;
  if (revision <= (state.revision ?? -1n)) return state;
  refuseUnreadable(event);
  return isForeign(event) ? { ...state, revision } : evolve(state, event);
}

/** Returns the state after all events of a stream, as `evolveStream` does. */
export async function readStreamState<State extends StreamState>(
  events: AsyncIterable<StoredEvent>,
  initial: State,
  evolve: Evolve<State>,
): Promise<State> {
  let state = initial;
  for await (const event of events) state = evolveStream(state, event, evolve);
  return state;
}

export type WatchStreamOptions<State> = {
  readonly stream: string;
  /** Reads the state at the end of the stream. */
  readonly read: () => Promise<State>;
  /** Returns the state after an event, which may have been applied before. */
  readonly evolve: Evolve<State>;
  /** Called after each change. */
  readonly changed?: () => void;
};

/** Reads the state of a stream, and keeps it current: an event of any process takes effect when the subscription delivers it. */
export async function watchStream<State>(
  log: Pick<EventStore, 'lastPosition' | 'subscribe'>,
  { stream, read, evolve, changed = () => {} }: WatchStreamOptions<State>,
) {
  // The position is read before the stream: events appended in between arrive twice.
  const start = await log.lastPosition();
  let state: State = await read();
  let position = start;
  const moved = createCondition();
  const take = async (events: readonly StoredEvent[], upTo: bigint) => {
    for (const event of events) state = evolve(state, event);
    position = upTo;
    if (events.length > 0) changed();
    moved.check();
  };
  const { done, close } = subscribeToRaw(log, { after: start, stream }, take);
  return {
    state: () => state,
    moved,
    /** Resolves with true as soon as every event up to `position` is applied, with false after `timeoutMs`. */
    applied: (wanted: bigint, timeoutMs?: number) => moved.until(() => wanted <= position, timeoutMs),
    /** Rejects when the log cannot be read any more; resolves on close. */
    done,
    close,
  };
}
