import { languageOf } from '../../../search/languages.ts';
import { searchReadings } from '../../../search/search-readings.ts';
import { readTerm } from './find-compounds.ts';
import type { LocaleWords, WordScope, WordTerm } from './find-words.ts';
import { foundPairs, hasToken, isThere, matchedWords, tokensOf } from './read-words.ts';

/** Words that terms match according to the vocabulary alone. */
export type AssumedWords = {
  readonly locales: readonly LocaleWords[];
  /** Asks the cluster whether documents have these words. The vocabulary also lists words of deleted documents. */
  areRight(): Promise<boolean>;
};

/**
 * Assumes that documents have the words of the vocabulary, which is almost always true. So the search can be sent together with the check
 * of this assumption. Returns undefined for questions, and if a term matches no word, because these need more requests.
 */
export async function assumeWords(
  scope: WordScope,
  names: readonly string[],
): Promise<AssumedWords | undefined> {
  const { text, settings } = scope;
  const asked = names.flatMap((locale) =>
    searchReadings(text, languageOf(locale), settings.synonyms).map((reading) => ({ locale, ...reading })),
  );
  if (asked.some(({ mode, terms }) => mode === 'any' || terms.length === 0)) return undefined;
  const locales = await Promise.all(
    asked.map(async ({ locale, mode, terms }) => {
      const place = { ...scope, locale };
      const words = terms.map(async (typed): Promise<WordTerm> => {
        const { term, vocabulary } = await readTerm(scope, place, typed);
        return { term, words: matchedWords(term, vocabulary), pairs: foundPairs(term, vocabulary) };
      });
      return { locale, mode, terms: await Promise.all(words) };
    }),
  );
  const all = locales.flatMap(({ terms }) => terms);
  if (all.length === 0 || all.some(({ words }) => words.length === 0)) return undefined;
  return { locales, areRight: () => areThere(scope, locales) };
}

/** Returns whether documents have, for each term, one of the words with the fewest typos. */
async function areThere(scope: WordScope, locales: readonly LocaleWords[]): Promise<boolean> {
  const queries = locales.flatMap(({ locale, terms }) =>
    terms.map(({ words }) => {
      const least = Math.min(...words.map(({ match }) => match.typos));
      const nearest = words.filter(({ match }) => match.typos === least);
      return hasToken(tokensOf(locale, nearest, scope.fields));
    }),
  );
  const found = await Promise.all(queries.map((query) => isThere(scope, query)));
  return found.every(Boolean);
}
