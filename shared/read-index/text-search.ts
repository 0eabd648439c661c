import type { SearchTerm } from '../search/search-terms.ts';

/** A request for rows by the words of their texts. */
export type TextSearch = {
  readonly query: string;
  /** Locales whose words are searched. */
  readonly locales: readonly string[] | 'all';
  /** Names of the fields to search. Absent = all. */
  readonly fields?: ReadonlySet<string>;
  readonly typoTolerance: boolean;
  /** True to order rows by relevance. `sort` is empty then. */
  readonly isRanked: boolean;
};

/** Report on the words of a search. */
export type TextSearchReport = {
  /** Words that rows had to match, by locale. */
  readonly terms: ReadonlyMap<string, readonly SearchTerm[]>;
  /** Words by which typed words were replaced, by the typed word. */
  readonly corrected: ReadonlyMap<string, string>;
};

/** Returns the terms of a report. Each locale has the terms of all its readings, each once. */
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
