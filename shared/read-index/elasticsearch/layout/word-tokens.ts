import { hash } from 'node:crypto';
import type { IndexedWord, WordKind } from '../../../search/match-word.ts';

/**
 * Words in documents, as tokens without blanks. Parts are separated by colons, which words do not have.
 * - `words` has every word in order, as `wordToken`, for matches and distances.
 * - `vocabulary` has each distinct word, as `vocabularyTokens`. Searches look up there which words resemble theirs.
 * - `stems.<field>` has the stems, as `stemToken`, for BM25.
 */
export const WORDS_FIELD = 'words';
export const VOCABULARY_FIELD = 'vocabulary';

/** Returns the name of a field's stems. It has no dots, which would make it a member of another field. */
export function stemsName(field: string): string {
  return field.replaceAll('.', '/');
}

/** Returns the path of the field with the stems of a searched field. */
export function stemsField(field: string): string {
  return `stems.${stemsName(field)}`;
}

/** A word of texts. Words of keywords have no stem. */
export type FoundWord = IndexedWord & { readonly key: string };

/** Longer words have a digest in their token, because the whitespace analyzer cuts tokens of more than 255 characters. */
const LONGEST_KEY = 64;

/** Returns the token of a word in `words`: `<locale>:<field>:<key>`, with a digest for a key of more than 64 characters. */
export function wordToken(locale: string, field: string, key: string): string {
  return `${locale}:${field}:${nameOfWord(key)}`;
}

function nameOfWord(text: string): string {
  return text.length <= LONGEST_KEY ? text : `~${hash('sha256', text, 'base64')}`;
}

/** Returns a regular expression (Lucene's) for exactly the tokens of these words in these fields. */
export function wordTokensPattern(
  locale: string,
  fields: readonly string[],
  keys: readonly string[],
): string {
  const anyOf = (texts: readonly string[]) => `(${texts.map(escaped).join('|')})`;
  return `${escaped(locale)}:${anyOf(fields)}:${anyOf(keys.map(nameOfWord))}`;
}

/** Returns the token of a word in `stems.<field>`: `<locale>:<stem>`, or `!` and the folded word if it has no stem. */
export function stemToken(locale: string, { folded, stem }: IndexedWord): string {
  return `${locale}:${nameOfWord(stem ?? `!${folded}`)}`;
}

/** Letters for the kinds of words in `vocabulary`, and for the stems of words that have one. */
const KINDS: Readonly<Record<WordKind, string>> = { text: 't', spelled: 'u', keyword: 'k' };
const STEMS: Readonly<Record<WordKind, string>> = { text: 's', spelled: 'v', keyword: '' };

/** All kinds of words. */
export const WORD_KINDS: readonly WordKind[] = ['text', 'spelled', 'keyword'];

/** Returns the token of a word, and that of its stem if the two differ. */
export function vocabularyTokens(locale: string, { key, folded, stem, kind }: FoundWord): readonly string[] {
  const spelled = `${folded}:${key === folded ? '' : key}`;
  const token = `${locale}:${KINDS[kind]}:${spelled}`;
  if (stem === undefined || stem === folded) return [token];
  return [token, `${locale}:${STEMS[kind]}:${stem}:${spelled}`];
}

/** Returns the word of a token of `vocabulary`. */
export function readVocabularyToken(
  locale: string,
  token: string,
): { readonly key: string; readonly kind: WordKind } {
  const [letter, ...parts] = token.slice(locale.length + 1).split(':');
  const isStem = letter === STEMS.text || letter === STEMS.spelled;
  const [folded = '', key = ''] = isStem ? parts.slice(1) : parts;
  const kind = WORD_KINDS.find((each) => KINDS[each] === letter || STEMS[each] === letter) ?? 'text';
  return { key: key === '' ? folded : key, kind };
}

/** Returns a regular expression (Lucene's) for the tokens of words of a kind by their folded form. */
export function foldedPattern(locale: string, kind: WordKind, folded: string): string {
  return `${escaped(locale)}:${KINDS[kind]}:(${folded}):.*`;
}

/** Returns a regular expression (Lucene's) for the tokens of words by their stem, of texts and of spelled words. */
export function stemPattern(locale: string, stem: string): string {
  return `${escaped(locale)}:[${STEMS.text}${STEMS.spelled}]:${stem}:.*`;
}

function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, (character) => `\\${character}`);
}
