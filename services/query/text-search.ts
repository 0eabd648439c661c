import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { visible } from '../../shared/search/split-words.ts';
import type { LocaleChoice } from './locale.ts';
import { resolveFlag } from './own-parameters.ts';
import { invalidValue, type Problems } from './problems.ts';
import type { QueryObject, QueryValue } from './query-string.ts';

/** Root parameters of a search by words, its facets and highlights. */
export const WORD_PARAMETERS = [
  'search',
  'typoTolerance',
  'facets',
  'highlight',
  'highlightPreTag',
  'highlightPostTag',
  'distinct',
];

/** Maximum characters of a query. */
const MAX_LENGTH = 512;

/** Resolves `search` and `typoTolerance`; undefined if the request has no text to search. */
export function resolveTextSearch(
  query: QueryObject,
  locales: TextSearch['locales'],
  problems: Problems,
): Omit<TextSearch, 'isRanked'> | undefined {
  const text = resolveQuery(query['search'], problems);
  const typoTolerance = resolveFlag(query['typoTolerance'], { param: 'typoTolerance', problems }) ?? true;
  // A search of signs only finds nothing: a search that finds everything would look like an answer.
  if (text === undefined || visible(text).trim() === '') return undefined;
  return { query: text, locales, typoTolerance };
}

/** Returns the locale in whose language the words of a query are split: the first one. */
export function languageOfQuery({ locales }: Pick<TextSearch, 'locales'>): string {
  return locales === 'all' ? 'en' : (locales[0] ?? 'en');
}

/** Returns the locales whose words are searched: those of the requested rows. */
export function searchedLocales(
  choice: LocaleChoice,
  defaultLocale: string,
  namesLocale: boolean,
): TextSearch['locales'] {
  if (choice.kind === 'all') return 'all';
  if (choice.kind === 'any-of') return choice.locales;
  return namesLocale ? 'all' : [defaultLocale];
}

function resolveQuery(value: QueryValue | undefined, problems: Problems): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= MAX_LENGTH) return value;
  const found = typeof value === 'string' ? `${value.length} characters` : value;
  problems.push(invalidValue('search', found, `text of at most ${MAX_LENGTH} characters`));
  return undefined;
}
