import { createCondition } from '../../shared/condition.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { subscribeToRaw } from '../../shared/event-store/raw-events.ts';
import { isForeign, stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import { synonymStream } from '../../shared/synonyms/synonym-events.ts';
import { evolveSynonyms, NO_SYNONYMS, type SynonymState } from '../../shared/synonyms/synonym-state.ts';

/** Synonyms of a log, as this process knows them. */
export type KnownSynonyms = {
  /** Returns the synonyms in force. It is the same object until they change. */
  readonly current: () => InstalledSynonyms;
  /** Resolves with true as soon as every event up to `position` is applied, with false after `timeoutMs`. */
  readonly applied: (position: bigint, timeoutMs?: number) => Promise<boolean>;
  /** Rejects when the log cannot be read any more; resolves on close. */
  readonly done: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Reads the synonyms and subscribes to them: a change by any process takes effect here when the subscription delivers it. */
export async function openSynonyms(log: EventStore, space: string): Promise<KnownSynonyms> {
  // We read the position before the stream: events appended in between arrive twice and are applied once.
  const start = await log.lastPosition();
  let read = await readSynonymsUpTo(log, space);
  let position = start;
  const moved = createCondition();
  const take = async (events: readonly StoredEvent[], upTo: bigint) => {
    for (const event of events)
      if (event.revision > (read.state.revision ?? -1n)) read = evolveUpTo(read, event);
    position = upTo;
    moved.check();
  };
  const { done, close } = subscribeToRaw(log, { after: start, stream: synonymStream(space) }, take);
  return {
    current: () => read.state.synonyms,
    applied: (wanted, timeoutMs) => moved.until(() => wanted <= position, timeoutMs),
    done,
    close,
  };
}

/** `isStopped`: there was an event that this program cannot read. The synonyms before it stay in force. */
type ReadSynonyms = { readonly state: SynonymState; readonly isStopped: boolean };

/** Reads the synonyms in force at a position; without one at the end of the log. */
export async function readSynonymsUpTo(
  log: EventStore,
  space: string,
  position?: bigint,
): Promise<ReadSynonyms> {
  let read: ReadSynonyms = { state: NO_SYNONYMS, isStopped: false };
  for await (const event of log.readStream(synonymStream(space))) {
    if (position !== undefined && event.position > position) break;
    read = evolveUpTo(read, event);
  }
  return read;
}

function evolveUpTo({ state, isStopped }: ReadSynonyms, event: StoredEvent): ReadSynonyms {
  if (isForeign(event)) return { state: { ...state, revision: event.revision }, isStopped };
  if (isStopped || stopsReaders(event)) return { state, isStopped: true };
  return { state: evolveSynonyms(state, event), isStopped };
}
