import type { SearchTerm } from './search-terms.ts';

/** Marks code units: 1 if a word with this first letter, or this second letter, may match. */
export type LetterFilter = { readonly first: Uint8Array; readonly second: Uint8Array };

type ScanRules = {
  readonly language: { readonly keepsFirstLetter: boolean };
  readonly terms: readonly SearchTerm[];
};

const ASCII = 128;
export const SEPARATOR = 0;

/** Letter or digit in lower case, by code unit. */
export const PLAIN_LETTERS: Uint8Array = Uint8Array.from({ length: ASCII }, (_, code) => {
  const letter = String.fromCharCode(code).toLowerCase();
  return /[a-z0-9]/.test(letter) ? letter.charCodeAt(0) : SEPARATOR;
});

/**
 * Returns a filter for words. A word passes it if `matchWord` accepts the word for one of the terms, or if it begins a pair for one. Some
 * other words pass it too.
 */
export function letterFilter({ language, terms }: ScanRules): LetterFilter {
  const filter = { first: new Uint8Array(ASCII), second: new Uint8Array(ASCII) };
  for (const term of terms) {
    const { folded, stem, synonyms, joined, typos, compounds } = term;
    const likeSynonyms = synonyms.flatMap((synonym) => [synonym.folded, synonym.stem]);
    // Any word may have this stem, or be as near to the term.
    if (!language.keepsFirstLetter || [stem, ...likeSynonyms].includes('') || folded.length <= typos)
      filter.first.fill(1);
    for (const word of [
      folded,
      stem,
      ...likeSynonyms,
      ...joined.map(({ text }) => text),
      ...compounds.keys(),
    ])
      allow(filter.first, word.charCodeAt(0));
    if (typos < 2) continue;
    // By a typo in the first letter, this letter may be different, superfluous, missing, or swapped with the second.
    const [one, other] = [folded.charCodeAt(0), folded.charCodeAt(1)];
    allow(filter.first, other);
    allow(filter.second, one);
    allow(filter.second, other);
  }
  return filter;
}

function allow(filter: Uint8Array, letter: number): void {
  if (letter < ASCII) filter[letter] = 1;
}

/**
 * Calls `visit` for the words of a text of ASCII characters that pass the filter, in order. Returns false at the first other character.
 * Most words of a text match nothing, and no string is made for them.
 */
export function scanWords(
  text: string,
  { first, second }: LetterFilter,
  visit: (start: number, end: number) => void,
): boolean {
  let start = -1;
  let isPossible = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= ASCII) return false;
    const letter = PLAIN_LETTERS[code] as number;
    if (letter === SEPARATOR) {
      if (isPossible) visit(start, at);
      start = -1;
      isPossible = false;
    } else if (start < 0) {
      start = at;
      isPossible = first[letter] === 1;
    } else if (at === start + 1 && second[letter] === 1) isPossible = true;
  }
  if (isPossible) visit(start, text.length);
  return true;
}
