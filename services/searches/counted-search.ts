import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { languageOfQuery } from '../query/text-search.ts';
import type { SearchCounts, SearchedOnDay } from './search-log-store.ts';

/** Longer words of a search, or of a correction, are cut. */
const MOST_CHARACTERS = 100;

/** Locale of searches in several locales. */
const MANY_LOCALES = '*';

/**
 * Returns what is counted of a search: its folded words. Undefined for a request that is not the first page of a search by words, and for
 * one among users, whose words are names of persons.
 */
export function countedSearch(request: SearchRequest): Omit<SearchedOnDay, 'day'> | undefined {
  const { type, text, from, size, cursor } = request;
  const isFirstPage = from === 0 && size > 0 && (cursor?.after ?? null) === null;
  if (text === undefined || !isFirstPage || text.words?.kind === 'completed' || type === USER_TYPE)
    return undefined;
  const { locales } = text;
  const words = splitWords(text.query, languageOfQuery(text)).map(({ word }) => foldWord(word));
  if (words.length === 0) return undefined;
  const locale = locales !== 'all' && locales.length === 1 ? (locales[0] as string) : MANY_LOCALES;
  return { type, locale, words: cut(words.join(' ')) };
}

/** Returns the counts of one search. */
export function countsOf({ hits, text }: SearchResult): SearchCounts {
  const corrected = [...(text?.corrected ?? [])].map(([typed, word]) => `${typed} → ${word}`);
  return {
    count: 1,
    none: hits.rows.length === 0 ? 1 : 0,
    corrected: corrected.length === 0 ? 0 : 1,
    correction: corrected.length === 0 ? null : cut(corrected.join(', ')),
  };
}

function cut(text: string): string {
  return text.slice(0, MOST_CHARACTERS).toWellFormed();
}
