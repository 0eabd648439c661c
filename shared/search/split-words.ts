import { valueAt } from '../map-values.ts';

/** A word of a text: in lower case, with its place in the text as it was given. */
export type TextWord = { readonly word: string; readonly start: number; readonly end: number };

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const PLAIN_WORD = /[a-z0-9]+/g;
/** Texts whose words are runs of ASCII letters and digits. */
export const PLAIN = /^[\0-\x7f]*$/;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenters = new Map<string, Intl.Segmenter>();

/** The words of a text in order. Where a script has no spaces `locale` says whose dictionary finds them. */
export function splitWords(text: string, locale: string): TextWord[] {
  const words: TextWord[] = [];
  if (PLAIN.test(text)) {
    for (const { 0: word, index } of text.toLowerCase().matchAll(PLAIN_WORD))
      words.push({ word, start: index, end: index + word.length });
    return words;
  }
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (UNSPACED.test(word)) addSegments(words, word, index, locale);
    else words.push({ word: normalise(word), start: index, end: index + word.length });
  }
  return words;
}

/** Returns whether a text has any words, in whatever language. */
export function hasWords(text: string): boolean {
  return text.search(WORD) >= 0;
}

function addSegments(words: TextWord[], run: string, start: number, locale: string): void {
  for (const { segment, index, isWordLike } of segmenterOf(locale).segment(run)) {
    if (isWordLike !== true) continue;
    const from = start + index;
    words.push({ word: normalise(segment), start: from, end: from + segment.length });
  }
}

function normalise(word: string): string {
  return word.normalize('NFC').toLowerCase();
}

function segmenterOf(locale: string): Intl.Segmenter {
  return valueAt(segmenters, locale, () => {
    const [supported] = Intl.Segmenter.supportedLocalesOf(validLocale(locale));
    return new Intl.Segmenter(supported ?? 'en', { granularity: 'word' });
  });
}

/** Rows may have a locale that BCP 47 does not know. */
function validLocale(locale: string): string[] {
  try {
    return Intl.getCanonicalLocales(locale);
  } catch {
    return [];
  }
}
