import { splitTerms } from '../../../search/exact-terms.ts';
import { languageOf } from '../../../search/languages.ts';
import { TYPO_LEVELS } from '../../../search/match-word.ts';
import { searchReadings } from '../../../search/search-readings.ts';
import type { SearchField, SearchSettings } from '../../../search/search-settings.ts';
import {
  allowAnotherTypo,
  asTyped,
  type SearchMode,
  type SearchTerm,
  splitsOf,
} from '../../../search/search-terms.ts';
import type { TextSearch } from '../../text-search.ts';
import { type FoundWord, WORDS_FIELD } from '../layout/word-tokens.ts';
import type { Dsl } from '../plan/dsl.ts';
import { bucketsIn } from '../wire/search-answer.ts';
import { readTerm } from './find-compounds.ts';
import {
  type FoundPair,
  foundPairs,
  hasToken,
  isThere,
  type MatchedWord,
  matchedWords,
  readVocabulary,
  tokensOf,
  type WordPlace,
} from './read-words.ts';
import type { Session } from './session.ts';
import { hasPair } from './word-intervals.ts';
import { termPattern, wordsPattern } from './word-patterns.ts';

/** A term of a query in one locale, and the words in documents that match it. Its pairs may occur in no document. */
export type WordTerm = {
  readonly term: SearchTerm;
  readonly words: readonly MatchedWord[];
  readonly pairs: readonly FoundPair[];
};

/** A query in the language of one locale: its terms, and whether all must match. */
export type LocaleWords = {
  readonly locale: string;
  readonly mode: SearchMode;
  readonly terms: readonly WordTerm[];
};

export type WordScope = {
  readonly session: Session;
  readonly type: string;
  readonly settings: SearchSettings;
  readonly text: TextSearch;
  /** The searched fields. */
  readonly fields: readonly SearchField[];
};

/** Finds the terms of a query in each of these locales that has words. */
export async function findWords(scope: WordScope, names: readonly string[]): Promise<readonly LocaleWords[]> {
  const found = await Promise.all(names.map((locale) => findInLocale(scope, locale)));
  return found.flat();
}

const MOST_LOCALES = 1_000;
/** Locales that a caller may name before the index is asked which of them exist. Each costs several searches. */
const NAMED_LOCALES = 5;

/** Returns the locales of a search. */
export async function localesOf({ session, type, settings, text }: WordScope): Promise<readonly string[]> {
  if (!session.layouts(type).root.scalars.has('locale')) return [settings.locale];
  const named = text.locales === 'all' ? undefined : new Set(text.locales);
  if (named !== undefined && named.size <= NAMED_LOCALES) return [...named];
  const query: Dsl = { exists: { field: WORDS_FIELD } };
  const locales = { terms: { field: 'f.locale', size: MOST_LOCALES, order: { _key: 'asc' } } };
  const answer = await session.search(type, { size: 0, query, aggs: { locales } });
  const present = bucketsIn<{ readonly key: string }>(answer, 'locales').map(({ key }) => key);
  return present.filter((each) => named?.has(each) !== false);
}

/** Finds the terms for each reading of the query. Returns none if no document has words in this locale. */
async function findInLocale(scope: WordScope, locale: string): Promise<readonly LocaleWords[]> {
  const { session, type, text, settings } = scope;
  const readings = searchReadings(text, languageOf(locale), settings.synonyms);
  const place: WordPlace = { session, type, locale };
  const [hasAny, found] = await Promise.all([
    isThere(place, wordsIn(scope, locale)),
    Promise.all(
      readings.map(async ({ mode, terms }): Promise<LocaleWords> => {
        const words = await Promise.all(terms.map((term) => findTerm(scope, place, mode, term)));
        return { locale, mode, terms: words.flat() };
      }),
    ),
  ]);
  return hasAny ? found : [];
}

/** Matches documents that have words in a locale. */
function wordsIn({ session, type }: WordScope, locale: string): Dsl {
  const some: Dsl = { exists: { field: WORDS_FIELD } };
  if (!session.layouts(type).root.scalars.has('locale')) return some;
  return { bool: { filter: [{ term: { 'f.locale': { value: locale } } }, some] } };
}

/** Finds the documents' words for a term: as it was typed, with one typo more, or as two words. */
export async function findTerm(
  scope: WordScope,
  place: WordPlace,
  mode: SearchMode,
  term: SearchTerm,
): Promise<readonly WordTerm[]> {
  const { term: found, vocabulary } = await readTerm(scope, place, term);
  const asked = mode === 'any' && (await isKnown(scope, place, found, vocabulary)) ? asTyped(found) : found;
  const words = await livingWords(scope, place, matchedWords(asked, vocabulary));
  const pairs = foundPairs(asked, vocabulary);
  if (words.length > 0 || (await isThere(place, hasPair(scope.fields, place.locale, pairs))))
    return [{ term: asked, words, pairs }];
  const guessed = allowAnotherTypo(asked);
  if (guessed === undefined) return splitOrNone(scope, place, asked);
  const more = matchedWords(guessed, await readVocabulary(place, termPattern(place.locale, guessed)));
  const guesses = await livingWords(scope, place, more);
  return guesses.length > 0
    ? [{ term: guessed, words: guesses, pairs: [] }]
    : splitOrNone(scope, place, guessed);
}

/** Returns the two words into which a question's term may be split, if documents have both. Otherwise returns the term without words. */
async function splitOrNone(
  scope: WordScope,
  place: WordPlace,
  term: SearchTerm,
): Promise<readonly WordTerm[]> {
  const none = [{ term, words: [], pairs: [] }];
  // A short query has already searched for pairs.
  const splits = term.splits.length > 0 ? [] : splitsOf(term);
  if (splits.length === 0) return none;
  const language = languageOf(place.locale);
  const vocabulary = await readVocabulary(place, wordsPattern(place.locale, [...new Set(splits.flat())]));
  const wordsOf = (part: string) => vocabulary.filter(({ folded }) => folded === part);
  const possible = splits.filter((parts) => parts.every((part) => wordsOf(part).length > 0));
  const living = new Set<string>();
  await Promise.all(
    [...new Set(possible.flat())].map(async (part) => {
      if (await isThere(place, hasToken(tokensOf(place.locale, wordsOf(part), scope.fields))))
        living.add(part);
    }),
  );
  const split = possible.find((parts) => parts.every((part) => living.has(part)));
  if (split === undefined) return none;
  return Promise.all(
    splitTerms(term, split, language).map(async (part) => {
      const { term: known, vocabulary: around } = await readTerm(scope, place, part);
      const alike = matchedWords(known, around);
      return { term: known, words: await livingWords(scope, place, alike), pairs: [] };
    }),
  );
}

async function isKnown(
  { fields }: WordScope,
  place: WordPlace,
  { folded, stem, synonyms }: SearchTerm,
  vocabulary: readonly FoundWord[],
): Promise<boolean> {
  const known = vocabulary.filter(
    (word) =>
      word.folded === folded ||
      word.stem === stem ||
      synonyms.some((synonym) => word.folded === synonym.folded || word.stem === synonym.stem),
  );
  return isThere(place, hasToken(tokensOf(place.locale, known, fields)));
}

/**
 * Returns the words of each number of typos for which some document has a word. The index still lists words of deleted documents for a
 * while.
 */
async function livingWords(
  { fields }: WordScope,
  place: WordPlace,
  words: readonly MatchedWord[],
): Promise<readonly MatchedWord[]> {
  const levels = TYPO_LEVELS.map((typos) => words.filter(({ match }) => match.typos === typos));
  const living = await Promise.all(
    levels.map((level) => isThere(place, hasToken(tokensOf(place.locale, level, fields)))),
  );
  return levels.flatMap((level, at) => (living[at] ? level : []));
}
