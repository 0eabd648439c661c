import type { SynonymGroups } from '../schema/content-type.ts';
import type { SearchRule } from '../schema/search-rules.ts';

/** Event that sets synonyms of searches. A namespace has one stream of them and of rules. */
export type SynonymsSet = {
  readonly type: 'synonyms-set';
  readonly data: {
    /** Uid of a content type; `*`: every type. */
    readonly contentType: string;
    /** All groups of that type, by locale. They replace those of an earlier event; none remove them. */
    readonly groups: SynonymGroups;
  };
};

/** Event that sets rules for searches with certain words. */
export type SearchRulesSet = {
  readonly type: 'search-rules-set';
  readonly data: {
    /** Uid of a content type. */
    readonly contentType: string;
    /** All rules of that type. They replace those of an earlier event; none remove them. */
    readonly rules: readonly SearchRule[];
  };
};

export type SearchEvent = SynonymsSet | SearchRulesSet;

const TYPES: ReadonlySet<string> = new Set<SearchEvent['type']>(['synonyms-set', 'search-rules-set']);

/** Returns whether an event sets synonyms or rules of searches. No row depends on such events. */
export function isSynonymEvent({ type }: { readonly type: string }): boolean {
  return TYPES.has(type);
}

/** Returns `<space>.synonyms`, the name of the stream of synonyms and rules. */
export function synonymStream(space: string): string {
  return `${space}.synonyms`;
}
