import type { SearchSettings } from './search-settings.ts';

const ANY_LOCALE = '*';

/** The synonyms of a locale and of every locale, by folded word. */
export function synonymsIn(
  { synonyms }: SearchSettings,
  locale: string,
): ReadonlyMap<string, readonly string[]> | undefined {
  const [own, all] = [synonyms.get(locale), synonyms.get(ANY_LOCALE)];
  return own === undefined || all === undefined ? (own ?? all) : new Map([...all, ...own]);
}
