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
]);

const SPELLED_LETTER = /[ßæœøđðþłħıς]/g;
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts are vowels, so they stay. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Returns the form in which words are compared: compatibility forms, case and accents are folded. `word` must be in lower case. */
export function foldWord(word: string): string {
  if (PLAIN.test(word)) return word;
  const bare = word.normalize('NFKD').replace(ACCENTS, '').toLowerCase();
  return bare.replace(SPELLED_LETTER, (letter) => SPELLED.get(letter) ?? letter).normalize('NFC');
}
