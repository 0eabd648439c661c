import type { SearchField } from './search-settings.ts';
import { splitWords } from './split-words.ts';
import { visibleText } from './visible-text.ts';

/** Words of one value beyond these are not searched: reading them would hold up everybody. */
const MOST_WORDS = 20_000;
/** Longer words are left out. */
const LONGEST_WORD = 1_000;

/** The words of a field's value that searches look at, in lower case and in order. `value` is what the index holds. */
export function wordsOfValue({ type }: SearchField, value: unknown, locale: string): readonly string[] {
  if (typeof value !== 'string' || value === '') return NO_WORDS;
  const words: string[] = [];
  for (const { word } of splitWords(visibleText(type, value), locale)) {
    if (words.length === MOST_WORDS) break;
    if (word.length <= LONGEST_WORD) words.push(word);
  }
  return words;
}

const NO_WORDS: readonly string[] = Object.freeze([]);
