import { valueAt } from '../../../map-values.ts';
import { createRecentValues, type RecentValues } from '../../../recent-values.ts';
import { type Language, languageOf } from '../../../search/languages.ts';
import { indexedWord, type WordKind } from '../../../search/match-word.ts';
import { wordsOfValue } from '../../../search/row-words.ts';
import type { SearchField, SearchSettings } from '../../../search/search-settings.ts';
import type { FieldValues } from '../../read-index.ts';
import { type FoundWord, stemsName, stemToken, vocabularyTokens, wordToken } from '../layout/word-tokens.ts';
import { type ByteSink, writeText } from './byte-sink.ts';

/** A word in the form of documents, in one locale. */
type WrittenWord = {
  readonly key: string;
  /** Tokens of the vocabulary as JSON, separated by commas. */
  readonly vocabulary: string;
  /** Stem of the word; undefined for a stop word. */
  readonly stem: string | undefined;
};

const CACHED_WORDS = 20_000;
const recentWords = new Map<string, RecentValues<string, WrittenWord>>();

/** Returns the values of a field. There are several at the end of a path. */
export type FieldTexts = (field: SearchField) => Iterable<unknown>;

/** Writes the words of a row's texts, after other members (see `word-tokens.ts`). */
export function writeWords(
  sink: ByteSink,
  settings: SearchSettings,
  { locale: given }: FieldValues,
  textsOf: FieldTexts,
): void {
  const locale = typeof given === 'string' ? given : settings.locale;
  const written: Written = { words: [], stems: [], vocabulary: new Set() };
  for (const field of settings.fields) addField(written, locale, field, textsOf(field));
  const { words, stems, vocabulary } = written;
  if (words.length === 0) return;
  writeText(sink, `,"words":[${words.join()}],"vocabulary":[${[...vocabulary].join()}]`);
  if (stems.length > 0) writeText(sink, `,"stems":{${stems.join()}}`);
}

/** Members of a document that have words, as JSON. */
type Written = { readonly words: string[]; readonly stems: string[]; readonly vocabulary: Set<string> };

function addField(written: Written, locale: string, field: SearchField, texts: Iterable<unknown>): void {
  const stems: string[] = [];
  for (const text of texts) {
    const found = wordsOfValue(field, text, locale).map((word) => writtenWord(locale, word, field));
    if (found.length === 0) continue;
    const tokens = found.map(({ key }) => wordToken(locale, field.name, key));
    written.words.push(JSON.stringify(tokens.join(' ')));
    for (const { vocabulary, stem } of found) {
      written.vocabulary.add(vocabulary);
      if (stem !== undefined) stems.push(stem);
    }
  }
  const name = JSON.stringify(stemsName(field.name));
  if (stems.length > 0) written.stems.push(`${name}:${JSON.stringify(stems.join(' '))}`);
}

function writtenWord(locale: string, key: string, { kind }: SearchField): WrittenWord {
  const known = valueAt(recentWords, `${kind} ${locale}`, () => createRecentValues(CACHED_WORDS));
  return valueAt(known, key, () => createWrittenWord(languageOf(locale), key, kind));
}

function createWrittenWord(language: Language, key: string, kind: WordKind): WrittenWord {
  const word: FoundWord = { ...indexedWord(language, key, kind), key };
  const vocabulary = vocabularyTokens(language.locale, word).map((token) => JSON.stringify(token));
  const stem = language.stopWords.has(word.folded) ? undefined : stemToken(language.locale, word);
  return { key, vocabulary: vocabulary.join(), stem };
}
