import { valueAt } from '../map-values.ts';
import { createRecentValues } from '../recent-values.ts';
import { REMEMBERED_LOCALES } from './remembered-locales.ts';

/** A word of a text in lower case, with its place in the original text. */
export type TextWord = { readonly word: string; readonly start: number; readonly end: number };

/** Characters that no reader sees, such as soft hyphens and zero-width spaces. Inside a word they belong to it. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
const WORD = /[\p{L}\p{N}\p{M}]+(?:\p{Default_Ignorable_Code_Point}+[\p{L}\p{N}\p{M}]+)*/gu;
const PLAIN_WORD = /[a-z0-9]+/g;
/** Matches texts whose words are sequences of ASCII letters and digits. */
export const PLAIN = /^[\0-\x7f]*$/;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenters = createRecentValues<string, Intl.Segmenter>(REMEMBERED_LOCALES);

/** Returns the words of a text in order. If a script has no spaces, the dictionary of `locale` finds the words. */
export function splitWords(text: string, locale: string): TextWord[] {
  const words: TextWord[] = [];
  if (PLAIN.test(text)) {
    for (const { 0: word, index } of text.toLowerCase().matchAll(PLAIN_WORD))
      words.push({ word, start: index, end: index + word.length });
    return words;
  }
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (UNSPACED.test(word)) addSegments(words, word, index, locale);
    else addWord(words, word, index);
  }
  return words;
}

/** Returns whether a text has any words, in any language. */
export function hasWords(text: string): boolean {
  return visible(text).search(WORD) >= 0;
}

/** Returns a text without the characters that no reader sees. */
export function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(INVISIBLE, '');
}

function addSegments(words: TextWord[], run: string, start: number, locale: string): void {
  for (const { segment, index, isWordLike } of segmenterOf(locale).segment(run)) {
    if (isWordLike !== true) continue;
    addWord(words, segment, start + index);
  }
}

function addWord(words: TextWord[], text: string, start: number): void {
  const word = visible(text).normalize('NFC').toLowerCase();
  if (word !== '') words.push({ word, start, end: start + text.length });
}

function segmenterOf(locale: string): Intl.Segmenter {
  return valueAt(segmenters, locale, () => {
    const [supported] = Intl.Segmenter.supportedLocalesOf(validLocale(locale));
    return new Intl.Segmenter(supported ?? 'en', { granularity: 'word' });
  });
}

/** Returns the canonical form of a locale. Returns none if BCP 47 does not know it, because rows may have such locales. */
function validLocale(locale: string): string[] {
  try {
    return Intl.getCanonicalLocales(locale);
  } catch {
    return [];
  }
}
