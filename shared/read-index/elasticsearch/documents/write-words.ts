import { createRecentValues, type RecentValues } from '../../../recent-values.ts';
import { foldWord } from '../../../search/fold-word.ts';
import { type Language, languageOf } from '../../../search/languages.ts';
import { wordsOfValue } from '../../../search/row-words.ts';
import type { SearchField, SearchSettings } from '../../../search/search-settings.ts';
import type { FieldValues } from '../../read-index.ts';
import { type FoundWord, stemToken, vocabularyTokens, wordToken } from '../layout/word-tokens.ts';
import { type ByteSink, writeText } from './byte-sink.ts';

/** A word as documents have it, in one locale. */
type WrittenWord = {
  readonly key: string;
  /** Tokens of the vocabulary as JSON, with commas between. */
  readonly vocabulary: string;
  /** Undefined for a stop word. */
  readonly stem: string | undefined;
};

const WORDS_HELD = 20_000;
const recentWords = new Map<string, RecentValues<string, WrittenWord>>();

/** Writes, after other members, the words of a row's texts: see `word-tokens.ts`. */
export function writeWords(sink: ByteSink, settings: SearchSettings, fields: FieldValues): void {
  const { locale: given } = fields;
  const locale = typeof given === 'string' ? given : settings.locale;
  const words: string[] = [];
  const stems: string[] = [];
  const vocabulary = new Set<string>();
  for (const field of settings.fields) {
    const found = wordsOfValue(field, fields[field.attribute], locale);
    if (found.length === 0) continue;
    const written = found.map((word) => writtenWord(locale, word, field));
    words.push(JSON.stringify(written.map(({ key }) => wordToken(locale, field.name, key)).join(' ')));
    const ownStems = written.flatMap(({ stem }) => stem ?? []);
    if (ownStems.length > 0)
      stems.push(`${JSON.stringify(field.name)}:${JSON.stringify(ownStems.join(' '))}`);
    for (const word of written) vocabulary.add(word.vocabulary);
  }
  if (words.length === 0) return;
  writeText(sink, `,"words":[${words.join()}],"vocabulary":[${[...vocabulary].join()}]`);
  if (stems.length > 0) writeText(sink, `,"stems":{${stems.join()}}`);
}

function writtenWord(locale: string, key: string, { isKeyword }: SearchField): WrittenWord {
  const name = `${isKeyword ? 'k' : 't'} ${locale}`;
  let known = recentWords.get(name);
  if (known === undefined) {
    known = createRecentValues(WORDS_HELD);
    recentWords.set(name, known);
  }
  const before = known.get(key);
  if (before !== undefined) return before;
  const word = createWrittenWord(languageOf(locale), key, isKeyword);
  known.set(key, word);
  return word;
}

function createWrittenWord(language: Language, key: string, isKeyword: boolean): WrittenWord {
  const folded = foldWord(key);
  const word: FoundWord = { key, folded, stem: isKeyword ? undefined : language.stem(key) };
  const vocabulary = vocabularyTokens(language.locale, word).map((token) => JSON.stringify(token));
  const stem = language.stopWords.has(folded) ? undefined : stemToken(language.locale, word);
  return { key, vocabulary: vocabulary.join(), stem };
}
