import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import { evolveStream, watchStream } from '../../shared/event-store/watch-stream.ts';
import { synonymStream } from '../../shared/synonyms/synonym-events.ts';
import {
  evolveSynonyms,
  NO_SYNONYMS,
  type SearchAdditions,
  type SynonymState,
} from '../../shared/synonyms/synonym-state.ts';

/** Synonyms and rules of a log, as this process knows them. */
export type KnownSynonyms = {
  /** Returns the synonyms and rules in force. It is the same object until they change. */
  readonly current: () => SearchAdditions;
  /** Returns what was read of the log so far. */
  readonly known: () => ReadSynonyms;
  /** Resolves with true as soon as every event up to `position` is applied, with false after `timeoutMs`. */
  readonly applied: (position: bigint, timeoutMs?: number) => Promise<boolean>;
  /** Rejects when the log cannot be read any more; resolves on close. */
  readonly done: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Reads the synonyms and rules, and keeps them current. */
export async function openSynonyms(log: EventStore, space: string): Promise<KnownSynonyms> {
  const { state, applied, done, close } = await watchStream<ReadSynonyms>(log, {
    stream: synonymStream(space),
    read: () => readSynonymState(log, space),
    evolve: evolveUpTo,
  });
  return { current: () => state().state.additions, known: state, applied, done, close };
}

/** `isStopped`: there was an event that this program cannot read. What was set before it stays in force. */
export type ReadSynonyms = { readonly state: SynonymState; readonly isStopped: boolean };

const NOTHING: ReadSynonyms = { state: NO_SYNONYMS, isStopped: false };

/** Part of the stream that is read. `after`: what was read before; absent: nothing. `until`: position of the last event; absent: the end. */
type SynonymRange = { readonly after?: ReadSynonyms | undefined; readonly until?: bigint | undefined };

/** Reads the synonyms and rules in force. Each event has all rules of a type, so what was read before saves much. */
export async function readSynonymState(
  log: Pick<EventStore, 'readStream'>,
  space: string,
  { after = NOTHING, until }: SynonymRange = {},
): Promise<ReadSynonyms> {
  let read = after;
  for await (const event of log.readStream(synonymStream(space), (after.state.revision ?? -1n) + 1n)) {
    if (until !== undefined && event.position > until) break;
    read = evolveUpTo(read, event);
  }
  return read;
}

function evolveUpTo({ state, isStopped }: ReadSynonyms, event: StoredEvent): ReadSynonyms {
  if (isStopped || stopsReaders(event)) return { state, isStopped: true };
  return { state: evolveStream(state, event, evolveSynonyms), isStopped };
}
