import { valueAt } from '../../../map-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import { type Language, languageOf } from '../../../search/languages.ts';
import { indexedWord, matchWord, type WordMatch } from '../../../search/match-word.ts';
import type { SearchField } from '../../../search/search-settings.ts';
import type { SearchTerm } from '../../../search/search-terms.ts';
import {
  type FoundWord,
  readVocabularyToken,
  VOCABULARY_FIELD,
  WORDS_FIELD,
  wordToken,
  wordTokensPattern,
} from '../layout/word-tokens.ts';
import { type Dsl, termsDsl } from '../plan/dsl.ts';
import { bucketsIn } from '../wire/search-answer.ts';
import type { Session } from './session.ts';

/** A word of texts that a term matches. */
export type MatchedWord = FoundWord & { readonly match: WordMatch };

/** Type and locale in which the words of a search are looked up. */
export type WordPlace = { readonly session: Session; readonly type: Uid; readonly locale: string };

/** Maximum words in an answer. Elasticsearch's default limit of buckets is 65,536. */
const MOST_WORDS = 60_000;

type WordBucket = { readonly key: string };

/**
 * Returns the words of the vocabulary whose tokens a regular expression matches. It asks the cluster once per answer. Some words may not be
 * in any document any more.
 */
export function readVocabulary(place: WordPlace, include: string): Promise<readonly FoundWord[]> {
  const name = `${place.type} ${place.locale} ${include}`;
  return valueAt(place.session.vocabularies, name, () => askVocabulary(place, include));
}

async function askVocabulary(
  { session, type, locale }: WordPlace,
  include: string,
): Promise<readonly FoundWord[]> {
  // With a minimum count of zero, every term of the field is listed, and no document is read.
  const terms = { field: VOCABULARY_FIELD, include, min_doc_count: 0, size: MOST_WORDS };
  const words = { terms: { ...terms, order: { _key: 'asc' } } };
  const answer = await session.search(type, { size: 0, query: { match_none: {} }, aggs: { words } });
  return foundWords(languageOf(locale), bucketsIn(answer, 'words'));
}

function foundWords(language: Language, buckets: readonly WordBucket[]): readonly FoundWord[] {
  const words = new Map<string, FoundWord>();
  for (const { key: token } of buckets) {
    const { key, kind } = readVocabularyToken(language.locale, token);
    const name = `${kind} ${key}`;
    if (!words.has(name)) words.set(name, { ...indexedWord(language, key, kind), key });
  }
  return [...words.values()];
}

/** Returns the words that a term matches, each with the quality of the match. */
export function matchedWords(term: SearchTerm, words: readonly FoundWord[]): readonly MatchedWord[] {
  return words.flatMap((word) => {
    const match = matchWord(term, word);
    return match === undefined ? [] : [{ ...word, match }];
  });
}

/** Words that together count as a term, if a word of `second` follows one of `first`. */
export type FoundPair = { readonly first: readonly FoundWord[]; readonly second: readonly FoundWord[] };

/** Returns the pairs into which a term may be split, from words that the pattern of the term found. */
export function foundPairs({ splits }: SearchTerm, words: readonly FoundWord[]): readonly FoundPair[] {
  const wordsOf = (folded: string) => words.filter((word) => word.kind === 'text' && word.folded === folded);
  return splits
    .map(([first, second]) => ({ first: wordsOf(first), second: wordsOf(second) }))
    .filter(({ first, second }) => first.length > 0 && second.length > 0);
}

/** Returns the tokens of words in fields. */
export function tokensOf(
  locale: string,
  words: readonly FoundWord[],
  fields: readonly SearchField[],
): readonly string[] {
  const tokens: string[] = [];
  for (const { key, kind } of words) {
    for (const field of fields) if (field.kind === kind) tokens.push(wordToken(locale, field.name, key));
  }
  return tokens;
}

/** Returns a regular expression (Lucene's) for the tokens of words in fields; undefined if there are none. */
export function patternOf(
  locale: string,
  words: readonly FoundWord[],
  fields: readonly SearchField[],
): string | undefined {
  const patterns = [...new Set(words.map(({ kind }) => kind))].flatMap((kind) => {
    const names = fields.filter((field) => field.kind === kind).map(({ name }) => name);
    const keys = words.filter((word) => word.kind === kind).map(({ key }) => key);
    return names.length === 0 ? [] : [wordTokensPattern(locale, names, keys)];
  });
  return patterns.length === 0 ? undefined : patterns.join('|');
}

/** Returns the query for documents with one of these tokens. */
export function hasToken(tokens: readonly string[]): Dsl {
  return termsDsl(WORDS_FIELD, tokens);
}

/** Returns whether any document matches. */
export async function isThere({ session, type }: Omit<WordPlace, 'locale'>, query: Dsl): Promise<boolean> {
  if ('match_none' in query) return false;
  const body = { size: 0, query, track_total_hits: true, terminate_after: 1 };
  const { hits } = await session.search(type, body);
  return (hits.total?.value ?? 0) > 0;
}
