import { assertNever } from '../assert-never.ts';
import type { StoredEvent } from '../event-store/event-store.ts';
import type { InstalledSynonyms } from '../schema/add-synonyms.ts';
import type { InstalledRules } from '../schema/search-rules.ts';
import type { SearchEvent } from './synonym-events.ts';

/** Synonyms and rules that were set while servers run. The synonyms are in addition to those of schemas and of a file. */
export type SearchAdditions = { readonly synonyms: InstalledSynonyms; readonly rules: InstalledRules };

export type SynonymState = {
  /** It is the same object until it changes. */
  readonly additions: SearchAdditions;
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

export const NO_SYNONYMS: SynonymState = { additions: { synonyms: {}, rules: {} }, revision: undefined };

/** Returns the state after an event of the stream of synonyms and rules. */
export function evolveSynonyms({ additions }: SynonymState, stored: StoredEvent): SynonymState {
  return {
    additions: evolveAdditions(additions, stored as unknown as SearchEvent),
    revision: stored.revision,
  };
}

function evolveAdditions({ synonyms, rules }: SearchAdditions, event: SearchEvent): SearchAdditions {
  switch (event.type) {
    case 'synonyms-set': {
      const { contentType, groups } = event.data;
      const isEmpty = Object.values(groups).every((each) => each.length === 0);
      return { rules, synonyms: withMember(synonyms, contentType, isEmpty ? undefined : groups) };
    }
    case 'search-rules-set': {
      const { contentType, rules: set } = event.data;
      return { synonyms, rules: withMember(rules, contentType, set.length === 0 ? undefined : set) };
    }
    default:
      return assertNever(event);
  }
}

/** Returns members with another value of one; undefined removes it. */
function withMember<Value>(
  members: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> {
  const { [name]: _, ...others } = members;
  return value === undefined ? others : { ...others, [name]: value };
}
