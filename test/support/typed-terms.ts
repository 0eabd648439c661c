import type { Language } from '../../shared/search/languages.ts';
import { searchReadings } from '../../shared/search/search-readings.ts';
import type { SearchTerms } from '../../shared/search/search-terms.ts';

/** Returns the terms of a query without synonyms. */
export function searchTerms(
  query: string,
  { language, typoTolerance }: { readonly language: Language; readonly typoTolerance: boolean },
): SearchTerms {
  return searchReadings({ query, typoTolerance }, language, [])[0] as SearchTerms;
}
