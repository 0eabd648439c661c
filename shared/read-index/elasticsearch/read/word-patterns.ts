import type { JoinedWord, SearchTerm } from '../../../search/search-terms.ts';
import { foldedPattern, stemPattern, WORD_KINDS } from '../layout/word-tokens.ts';

/**
 * Returns a regular expression (Lucene's) for the tokens of all words that a term may match, and of some others. Words have no characters
 * with a special meaning in it.
 */
export function termPattern(locale: string, term: SearchTerm): string {
  const { folded, stem, isPrefix, typos, synonyms, joined, splits } = term;
  const asTyped = [folded + (isPrefix ? '.*' : ''), ...synonyms.map((synonym) => synonym.folded)];
  const stems = [...new Set([stem, ...synonyms.map((synonym) => synonym.stem)])];
  const like = [
    ...[...asTyped, ...stems, ...splits.flat()],
    ...[{ text: folded, isPrefix, typos }, ...joined].flatMap(wordPatterns),
  ];
  return [
    foldedPattern(locale, 'text', like.join('|')),
    foldedPattern(locale, 'spelled', [...asTyped, ...stems].join('|')),
    foldedPattern(locale, 'keyword', asTyped.join('|')),
    stemPattern(locale, stems.length === 1 ? stem : `(${stems.join('|')})`),
  ].join('|');
}

/** Returns a pattern for the tokens of words, without typos. */
export function wordsPattern(locale: string, folded: readonly string[]): string {
  const any = folded.join('|');
  return WORD_KINDS.map((kind) => foldedPattern(locale, kind, any)).join('|');
}

/** Returns patterns for a word with typos, and for words that begin with it if `isPrefix`. */
function wordPatterns({ text, typos, isPrefix }: JoinedWord): readonly string[] {
  const end = isPrefix ? '.*' : '';
  return [text, ...nearPatterns(text, typos)].map((pattern) => pattern + end);
}

/** Maximum length of a word with typos. Longer words are compared exactly (see `typoDistance`). */
const LONGEST = 100;

function nearPatterns(typed: string, typos: number): readonly string[] {
  if (typos === 0 || typed.length > LONGEST || typed.length < 2) return [];
  const [first, rest] = [typed.slice(0, 1), typed.slice(1)];
  if (typos === 1) return oneTypo(rest).map((pattern) => first + pattern);
  const otherFirst = [rest, `.${rest}`, `.${typed}`, `${typed[1]}${first}${typed.slice(2)}`];
  return [...twoTypos(rest).map((pattern) => first + pattern), ...otherFirst];
}

/** Returns patterns for exactly the texts with one letter less, another letter, one letter more, or two letters swapped. */
function oneTypo(text: string): string[] {
  const patterns = [`${text}.`];
  for (let at = 0; at < text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    patterns.push(`${before}.?${after}`, `${before}.${text.slice(at)}`);
    if (after !== '') patterns.push(`${before}${after[0]}${text[at]}${after.slice(1)}`);
  }
  return patterns;
}

/**
 * Returns patterns for texts with two typos, and for some others. Two typos leave one third of a text unchanged, at most two letters from
 * its place. The exception is a typo that swaps the two letters at the border of thirds.
 */
function twoTypos(text: string): string[] {
  // In a text of three letters or more no third is empty. Two typos may change two of them.
  const borders = [0, 1, 2].map((thirds) => Math.floor((thirds * text.length) / 3));
  const patterns = borders.flatMap((from, at) => around(text, from, text.slice(from, borders[at + 1]), 2));
  for (const border of borders.slice(1)) {
    const swapped = `${text[border] ?? ''}${text[border - 1] ?? ''}`;
    if (swapped.length === 2) patterns.push(...around(text, border - 1, swapped, 1));
  }
  return patterns;
}

/** Returns patterns with `part` at `at`, and up to `slack` letters more or fewer on either side. */
function around(text: string, at: number, part: string, slack: number): string[] {
  if (part === '') return [];
  const behind = text.length - at - part.length;
  return [`${upTo(at, slack)}${part}${upTo(behind, slack)}`];
}

function upTo(length: number, slack: number): string {
  return `.{${Math.max(0, length - slack)},${length + slack}}`;
}

/** Returns a pattern for the tokens of words that contain these letters. */
export function compoundPattern(locale: string, letters: string): string {
  return (['text', 'spelled'] as const)
    .map((kind) => foldedPattern(locale, kind, `[^:]*${letters}[^:]*`))
    .join('|');
}

/** Maximum characters of the texts in one pattern. Elasticsearch limits the work for one pattern. */
const MOST_LETTERS = 1_500;

/** Returns patterns for the tokens of words that are one of these texts, or have it as their stem. */
export function knownPatterns(locale: string, texts: readonly string[]): readonly string[] {
  const patterns: string[] = [];
  let from = 0;
  let letters = 0;
  for (const [at, text] of texts.entries()) {
    letters += text.length + 1;
    if (letters < MOST_LETTERS && at + 1 < texts.length) continue;
    const any = texts.slice(from, at + 1).join('|');
    const folded = (['text', 'spelled'] as const).map((kind) => foldedPattern(locale, kind, any));
    patterns.push([...folded, stemPattern(locale, `(${any})`)].join('|'));
    [from, letters] = [at + 1, 0];
  }
  return patterns;
}
