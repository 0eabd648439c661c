/** Letters that Unicode does not decompose, as people type them without the key for it. */
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
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts are vowels and stay. */
const ACCENTS = /[\u0300-\u036f]/g;
const PLAIN = /^[\0-\x7f]*$/;

/** The form in which words are compared: compatibility forms, case and accents are folded. `word` is in lower case. */
export function foldWord(word: string): string {
  if (PLAIN.test(word)) return word;
  const bare = word.normalize('NFKD').replace(ACCENTS, '').toLowerCase();
  return bare.replace(SPELLED_LETTER, (letter) => SPELLED.get(letter) ?? letter).normalize('NFC');
}
