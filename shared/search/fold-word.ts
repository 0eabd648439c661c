import { PLAIN } from './split-words.ts';

/** Letters that Unicode does not decompose, with the letters that people type in their place. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ł', 'l'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ς', 'σ'],
  // Forms of alef, kaf, yeh and heh that Arabic, Persian and Urdu keyboards write for each other.
  ['\u0671', '\u0627'],
  ['\u06a9', '\u0643'],
  ['\u06aa', '\u0643'],
  ['\u0649', '\u064a'],
  ['\u06cc', '\u064a'],
  ['\u06d2', '\u064a'],
  ['\u0629', '\u0647'],
  ['\u06c1', '\u0647'],
  ['\u06be', '\u0647'],
  ['\u06d5', '\u0647'],
]);

const SPELLED_LETTER = new RegExp(`[${[...SPELLED.keys()].join('')}]`, 'g');
/**
 * Accents of Latin, Greek and Cyrillic letters, points of Hebrew, and vowel marks of Arabic with hamza, maddah and the tatweel that
 * stretches a word: writers omit these. Marks of other scripts stay, because they are vowels that writers always write.
 */
const ACCENTS =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]/g;
/** Digits of Arabic and Persian texts. */
const DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g;

/** Returns the form in which words are compared: compatibility forms, case and accents are folded. `word` must be in lower case. */
export function foldWord(word: string): string {
  if (PLAIN.test(word)) return word;
  const bare = word.normalize('NFKD').replace(ACCENTS, '').toLowerCase();
  return bare
    .replace(SPELLED_LETTER, (letter) => SPELLED.get(letter) ?? letter)
    .replace(DIGITS, (digit) => String(digit.charCodeAt(0) & 15))
    .normalize('NFC');
}
