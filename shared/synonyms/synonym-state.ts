import type { StoredEvent } from '../event-store/event-store.ts';
import type { InstalledSynonyms } from '../schema/add-synonyms.ts';
import type { SynonymsSet } from './synonym-events.ts';

/** Synonyms that were set while servers run, in addition to those of schemas and of a file. */
export type SynonymState = {
  readonly synonyms: InstalledSynonyms;
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

export const NO_SYNONYMS: SynonymState = { synonyms: {}, revision: undefined };

/** Returns the state after an event of the stream of synonyms. */
export function evolveSynonyms({ synonyms }: SynonymState, stored: StoredEvent): SynonymState {
  const { contentType, groups } = (stored as unknown as SynonymsSet).data;
  const { [contentType]: _, ...others } = synonyms;
  const isEmpty = Object.values(groups).every((each) => each.length === 0);
  return {
    synonyms: isEmpty ? others : { ...others, [contentType]: groups },
    revision: stored.revision,
  };
}
