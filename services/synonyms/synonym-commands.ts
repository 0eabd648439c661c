import type { EventMetadata, EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import type { SynonymGroups } from '../../shared/schema/content-type.ts';
import type { InstalledRules, SearchRule } from '../../shared/schema/search-rules.ts';
import { type SearchEvent, synonymStream } from '../../shared/synonyms/synonym-events.ts';
import { type ReadSynonyms, readSynonymState } from './open-synonyms.ts';

export type SynonymCommandsOptions = {
  readonly log: Pick<EventStore, 'readStream' | 'append'>;
  readonly space: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Returns what this process has read of the log. Absent: commands read all of it. */
  readonly known?: () => ReadSynonyms;
  readonly author: () => Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId'>;
};

/** Every process may set synonyms and rules. */
export type SynonymCommands = ReturnType<typeof createSynonymCommands>;

const ATTEMPTS = 10;

/** Creates commands on the synonyms and the rules of a log. */
export function createSynonymCommands(options: SynonymCommandsOptions) {
  const { log, space, known } = options;
  const additions = async () => (await readSynonymState(log, space, { after: known?.() })).state.additions;
  return {
    /** Replaces the synonyms of a content type. `*` is every type. Returns the position of the change. */
    set: (contentType: string, groups: SynonymGroups) =>
      append(options, { type: 'synonyms-set', data: { contentType, groups } }, 'set-synonyms'),
    /** Replaces the rules of a content type. Returns the position of the change. */
    setRules: (contentType: string, rules: readonly SearchRule[]) =>
      append(options, { type: 'search-rules-set', data: { contentType, rules } }, 'set-search-rules'),
    /** Returns the synonyms at the end of the log. */
    list: async (): Promise<InstalledSynonyms> => (await additions()).synonyms,
    /** Returns the rules at the end of the log. */
    listRules: async (): Promise<InstalledRules> => (await additions()).rules,
  };
}

/**
 * Appends an event. It reads the stream first, and repeats if another process changed it meanwhile. After ten attempts it throws
 * RequestError. Returns the position of the event.
 */
async function append(
  { log, space, now, known, author }: SynonymCommandsOptions,
  event: SearchEvent,
  via: string,
): Promise<bigint> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { state, isStopped } = await readSynonymState(log, space, { after: known?.() });
    if (isStopped)
      throw new RequestError(
        'not-supported',
        'A newer release has written synonyms or rules: update this process',
      );
    const at = new Date(now()).toISOString();
    const stored = newEvent(event, { at, epoch: 0, ...author(), via });
    const appended = await log.append(synonymStream(space), state.revision ?? 'none', [stored]);
    if (appended.kind === 'appended') return appended.position;
  }
  throw new RequestError('rights-contended', 'Synonyms or rules are being changed by others, try again');
}
