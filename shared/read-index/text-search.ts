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

/** Words that a search has looked for. */
export type TextSearchReport = {
  /** The words that rows had to match, by locale. */
  readonly terms: ReadonlyMap<string, readonly SearchTerm[]>;
  /** Words that were taken for others, by the word as it was typed. */
  readonly corrected: ReadonlyMap<string, string>;
};

/** The terms of a report: of each locale those of all its readings, each once. */
export function reportedTerms(
  readings: readonly { readonly locale: string; readonly terms: readonly SearchTerm[] }[],
): TextSearchReport['terms'] {
  const terms = new Map<string, SearchTerm[]>();
  for (const reading of readings) {
    const known = terms.get(reading.locale) ?? [];
    const isNew = (term: SearchTerm) =>
      !known.some((each) => each.folded === term.folded && each.place === term.place);
    terms.set(reading.locale, [...known, ...reading.terms.filter(isNew)]);
  }
  return terms;
}
