import type { EventMetadata, EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import type { SynonymGroups } from '../../shared/schema/content-type.ts';
import { type SynonymsSet, synonymStream } from '../../shared/synonyms/synonym-events.ts';
import { readSynonymsUpTo } from './open-synonyms.ts';

export type SynonymCommandsOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly author: () => Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId'>;
};

/** Every process may set synonyms. */
export type SynonymCommands = ReturnType<typeof createSynonymCommands>;

const ATTEMPTS = 10;

/**
 * Creates commands on the synonyms of a log. A command reads them first, and repeats if another process changed them meanwhile. After ten
 * attempts it throws RequestError.
 */
export function createSynonymCommands({ log, space, now, author }: SynonymCommandsOptions) {
  return {
    /** Replaces the synonyms of a content type. `*` is every type. Returns the position of the change. */
    async set(contentType: string, groups: SynonymGroups): Promise<bigint> {
      const event: SynonymsSet = { type: 'synonyms-set', data: { contentType, groups } };
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const { state, isStopped } = await readSynonymsUpTo(log, space);
        if (isStopped)
          throw new RequestError(
            'not-supported',
            'A newer release has written synonyms: update this process',
          );
        const at = new Date(now()).toISOString();
        const stored = newEvent(event, { at, epoch: 0, ...author(), via: 'set-synonyms' });
        const appended = await log.append(synonymStream(space), state.revision ?? 'none', [stored]);
        if (appended.kind === 'appended') return appended.position;
      }
      throw new RequestError('rights-contended', 'Synonyms are being changed by others, try again');
    },
    /** Returns the synonyms at the end of the log. */
    list: async (): Promise<InstalledSynonyms> => (await readSynonymsUpTo(log, space)).state.synonyms,
  };
}
