import type { SearchTerm } from '../search/search-terms.ts';

/** Asks for rows by the words of their texts. */
export type TextSearch = {
  readonly query: string;
  /** Whose words are meant. */
  readonly locales: readonly string[] | 'all';
  /** Names of the fields that may be looked at. Absent = all. */
  readonly fields?: ReadonlySet<string>;
  readonly typoTolerance: boolean;
  /** Orders rows by relevance: `sort` is empty then. */
  readonly isRanked: boolean;
};

/** What a search by words has looked for. */
export type TextSearchReport = {
  /** The words that rows had to match, by locale. */
  readonly terms: ReadonlyMap<string, readonly SearchTerm[]>;
  /** Words that were taken for others, by the word as it was typed. */
  readonly corrected: ReadonlyMap<string, string>;
};
