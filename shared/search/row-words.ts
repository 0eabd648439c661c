import { PLAIN_LETTERS, SEPARATOR } from './scan-words.ts';
import type { SearchField } from './search-settings.ts';
import { PLAIN, splitWords } from './split-words.ts';
import { visibleText } from './visible-text.ts';

/** Maximum words of one value that are searched, because reading more would delay all requests. */
const MOST_WORDS = 20_000;
/** Maximum characters of a word. Longer words are omitted. */
const LONGEST_WORD = 1_000;

/** Returns the searched words of a field's value, in lower case and in order. `value` is that of the index. */
export function wordsOfValue({ type }: SearchField, value: unknown, locale: string): readonly string[] {
  if (typeof value !== 'string' || value === '') return NO_WORDS;
  const words: string[] = [];
  for (const { word } of splitWords(visibleText(type, value), locale)) {
    if (words.length === MOST_WORDS) break;
    if (word.length <= LONGEST_WORD) words.push(word);
  }
  return words;
}

/** Takes the words of a value in order. Each value uses only one of the two functions. */
export type WordReader = {
  /** Takes a word of ASCII letters as a part of a text in lower case, with a hash of its letters. */
  readonly readPlain: (text: string, start: number, end: number, hash: number) => void;
  readonly read: (word: string) => void;
};

/** Reads the words that `wordsOfValue` returns. If possible, it creates no string for each word. */
export function readWords(field: SearchField, value: unknown, locale: string, reader: WordReader): void {
  const text = typeof value === 'string' ? visibleText(field.type, value) : '';
  if (PLAIN.test(text)) readPlainWords(text.toLowerCase(), reader);
  else for (const word of wordsOfValue(field, value, locale)) reader.read(word);
}

function readPlainWords(text: string, { readPlain }: WordReader): void {
  let words = 0;
  let start = -1;
  let hash = 0;
  for (let at = 0; at <= text.length; at++) {
    const letter = at < text.length ? (PLAIN_LETTERS[text.charCodeAt(at)] as number) : SEPARATOR;
    if (letter !== SEPARATOR) {
      if (start < 0) [start, hash] = [at, 0];
      hash = (Math.imul(hash, 31) + letter) | 0;
    } else if (start >= 0) {
      if (words === MOST_WORDS) return;
      if (at - start <= LONGEST_WORD) {
        words++;
        readPlain(text, start, at, hash);
      }
      start = -1;
    }
  }
}

const NO_WORDS: readonly string[] = Object.freeze([]);
