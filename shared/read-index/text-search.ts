import { valueAt } from '../map-values.ts';
import type { SearchTerm } from '../search/search-terms.ts';

/** A request for rows by the words of their texts. */
export type TextSearch = {
  readonly query: string;
  /** Locales whose words are searched. */
  readonly locales: readonly string[] | 'all';
  /** Names of the fields to search. Absent = all. */
  readonly fields?: ReadonlySet<string>;
  readonly typoTolerance: boolean;
  /** True to order rows by relevance. `sort` is the order of rows with the same relevance then. */
  readonly isRanked: boolean;
};

/** Report on the words of a search. */
export type TextSearchReport = {
  /** Words that rows had to match, by locale. */
  readonly terms: ReadonlyMap<string, readonly SearchTerm[]>;
  /** Words by which typed words were replaced, by the typed word. */
  readonly corrected: ReadonlyMap<string, string>;
};

/** Terms of a query in one locale, each with its correction if it was corrected. */
export type ReportedReading = {
  readonly locale: string;
  readonly terms: readonly { readonly term: SearchTerm; readonly correction: string | undefined }[];
};

/** Returns the report on a query. Each locale has the terms of all its readings, each once. */
export function reportOf(readings: readonly ReportedReading[]): TextSearchReport {
  const terms = new Map<string, SearchTerm[]>();
  const corrected = new Map<string, string>();
  for (const reading of readings) {
    const known = valueAt(terms, reading.locale, () => []);
    const isNew = ({ folded, place }: SearchTerm) =>
      !known.some((each) => each.folded === folded && each.place === place);
    known.push(...reading.terms.map(({ term }) => term).filter(isNew));
    for (const { term, correction } of reading.terms)
      if (correction !== undefined) valueAt(corrected, term.typed, () => correction);
  }
  return { terms, corrected };
}
