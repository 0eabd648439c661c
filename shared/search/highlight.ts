import { valueAt } from '../map-values.ts';
import type { WordPart } from './compounds.ts';
import { foldWord } from './fold-word.ts';
import type { Language } from './languages.ts';
import { AS_PART, indexedWord, matchWord, type WordKind } from './match-word.ts';
import { letterFilter, scanWords } from './scan-words.ts';
import type { SearchTerm } from './search-terms.ts';
import { splitWords, type TextWord } from './split-words.ts';

/** A part of a text that a query matches. */
export type Mark = { readonly start: number; readonly end: number; readonly term: SearchTerm };

export type MarkRules = {
  readonly language: Language;
  readonly terms: readonly SearchTerm[];
  readonly kind: WordKind;
};

export type HighlightStyle = {
  readonly before: string;
  readonly after: string;
  readonly escape: (text: string) => string;
  /** Number of words of a snippet. Absent = the whole text. */
  readonly snippet?: number;
  /** Text in place of what a snippet omits. Default: an ellipsis. */
  readonly ellipsis?: string;
};

const ELLIPSIS = '…';

/**
 * Creates a function that finds the words of texts that match a query, in order. If only the beginning of a word was typed, it finds that
 * beginning. Each distinct word is compared once, for all texts.
 */
export function createMarker(rules: MarkRules): (text: string) => readonly Mark[] {
  if (rules.terms.length === 0) return () => [];
  const known = new Map<string, WordMarks>();
  const filter = letterFilter(rules);
  const marksOf = (word: string) =>
    valueAt(known, word, () => ({ own: marksOfWord(word, rules), splits: splitsAt(word, rules) }));
  return (text) => {
    const scanned: Mark[] = [];
    const isScanned = scanWords(text, filter, (start, end) => {
      const next = () => wordBehind(text, end);
      addMarks(scanned, { word: text.slice(start, end).toLowerCase(), start, end }, next, marksOf);
    });
    if (isScanned) return scanned;
    const marks: Mark[] = [];
    const words = splitWords(text, rules.language.locale);
    for (const [at, word] of words.entries()) addMarks(marks, word, () => words[at + 1], marksOf);
    return marks;
  };
}

/**
 * Matches of a word. `own`: the terms that it matches, and the matched letters. Several terms may match different parts of a compound.
 * `splits`: words that form a term if they follow it.
 */
type WordMarks = { readonly own: readonly WordMark[]; readonly splits: readonly SplitMark[] };
type WordMark = { readonly term: SearchTerm } & WordPart;
type SplitMark = { readonly behind: string; readonly term: SearchTerm };

function addMarks(
  marks: Mark[],
  { word, start, end }: TextWord,
  next: () => TextWord | undefined,
  marksOf: (word: string) => WordMarks,
): void {
  const { own, splits } = marksOf(word);
  // Letters of a word with invisible or combined characters have other places in the text.
  const isPlain = end - start === word.length;
  for (const { term, ...part } of isPlain ? own : own.slice(0, 1)) {
    const marked = isPlain
      ? { start: start + part.start, end: Math.min(end, start + part.end) }
      : { start, end };
    addMark(marks, { ...marked, term });
  }
  if (splits.length === 0) return;
  const behind = next();
  const split = behind && splits.find((each) => each.behind === foldWord(behind.word));
  if (behind === undefined || split === undefined) return;
  const { term } = split;
  if (own.length === 0) addMark(marks, { start, end, term });
  // A next word that matches a term by itself gets the mark of that term instead.
  if (marksOf(behind.word).own.length === 0) addMark(marks, { start: behind.start, end: behind.end, term });
}

/** Adds a mark, unless the last one ends behind its start. The second word of a split may be the first word of another. */
function addMark(marks: Mark[], mark: Mark): void {
  const last = marks.at(-1);
  if (last === undefined || last.end <= mark.start) marks.push(mark);
}

const NEXT_WORD = /[^a-z0-9]*([a-z0-9]+)/iy;

/** Returns the next word after a place in a text of ASCII characters. */
function wordBehind(text: string, from: number): TextWord | undefined {
  NEXT_WORD.lastIndex = from;
  const word = NEXT_WORD.exec(text)?.[1];
  if (word === undefined) return undefined;
  const end = NEXT_WORD.lastIndex;
  return { word: word.toLowerCase(), start: end - word.length, end };
}

/** Returns the words that form a term if they follow this word. */
function splitsAt(word: string, { terms, kind }: MarkRules): readonly SplitMark[] {
  if (kind !== 'text') return [];
  const folded = foldWord(word);
  return terms.flatMap((term) =>
    term.splits.filter(([first]) => first === folded).map(([, behind]) => ({ behind, term })),
  );
}

function marksOfWord(word: string, { language, terms, kind }: MarkRules): readonly WordMark[] {
  const indexed = indexedWord(language, word, kind);
  const { folded } = indexed;
  let best: (WordMark & { readonly typos: number }) | undefined;
  for (const term of terms) {
    const match = matchWord(term, indexed);
    if (match === undefined || (best !== undefined && best.typos <= match.typos)) continue;
    const isBeginning =
      term.isPrefix && !match.isExact && folded.length === word.length && folded.startsWith(term.folded);
    const end = isBeginning ? term.folded.length : Number.POSITIVE_INFINITY;
    best = { term, start: 0, end, typos: match.typos };
  }
  if (best === undefined) return [];
  return best.typos === AS_PART.typos ? partsOf(word, folded, terms) : [best];
}

/** Returns the parts of a compound that terms match, in order. */
function partsOf(word: string, folded: string, terms: readonly SearchTerm[]): readonly WordMark[] {
  return terms
    .flatMap((term): WordMark[] => {
      const part = term.compounds.get(folded);
      return part === undefined ? [] : [{ term, ...unfoldedPart(word, part) }];
    })
    .sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Returns the letters of a word whose folded form is a part. Some letters are folded to two. */
function unfoldedPart(word: string, { start, end }: WordPart): WordPart {
  let folded = 0;
  const part = { start: 0, end: word.length };
  for (let at = 0; at < word.length; at++) {
    if (folded <= start) part.start = at;
    if (folded < end) part.end = at + 1;
    folded += foldWord(word.charAt(at)).length;
  }
  return part;
}

/** Returns the text, or a snippet of it, with tags around its marks. */
export function highlight(
  text: string,
  marks: readonly Mark[],
  locale: string,
  style: HighlightStyle,
): string {
  const { start, end } =
    style.snippet === undefined
      ? { start: 0, end: text.length }
      : snippetOf(text, marks, locale, style.snippet);
  const { ellipsis = ELLIPSIS } = style;
  const parts: string[] = start > 0 ? [ellipsis] : [];
  let at = start;
  for (const mark of marks) {
    if (mark.start < at || mark.end > end) continue;
    parts.push(style.escape(text.slice(at, mark.start)));
    parts.push(style.before, style.escape(text.slice(mark.start, mark.end)), style.after);
    at = mark.end;
  }
  parts.push(style.escape(text.slice(at, end)));
  if (end < text.length) parts.push(ellipsis);
  return parts.join('');
}

/** Returns the snippet with the most different terms; if there are several, the first. */
function snippetOf(
  text: string,
  marks: readonly Mark[],
  locale: string,
  size: number,
): { readonly start: number; readonly end: number } {
  const words = splitWords(text, locale);
  if (words.length <= size) return { start: 0, end: text.length };
  const first = firstWordOfSnippet(placesOf(marks, words), words.length, size);
  const [from, to] = [words[first], words[first + size - 1]];
  return { start: from?.start ?? 0, end: to?.end ?? text.length };
}

/** `word`: number of the word at which a mark begins. */
type Place = { readonly word: number; readonly term: SearchTerm };

/** Both lists are in the order of the text. */
function placesOf(marks: readonly Mark[], words: readonly TextWord[]): readonly Place[] {
  const places: Place[] = [];
  let word = 0;
  for (const { start, term } of marks) {
    while (word < words.length && (words[word]?.start ?? 0) < start) word++;
    if (words[word]?.start === start) places.push({ word, term });
  }
  return places;
}

/**
 * A third of a snippet's words precede the first match. The snippets of successive places begin later and later, so each place enters and
 * leaves the count once: a text may have hundreds of thousands.
 */
function firstWordOfSnippet(places: readonly Place[], words: number, size: number): number {
  const inside = new Map<SearchTerm, number>();
  let best = { first: 0, terms: 0 };
  let [entered, left] = [0, 0];
  for (const { word } of places) {
    const first = Math.min(Math.max(0, word - Math.floor(size / 3)), words - size);
    for (let next = places[entered]; next !== undefined && next.word < first + size; next = places[entered]) {
      inside.set(next.term, (inside.get(next.term) ?? 0) + 1);
      entered++;
    }
    for (let next = places[left]; next !== undefined && next.word < first; next = places[left]) {
      const count = inside.get(next.term) ?? 0;
      if (count > 1) inside.set(next.term, count - 1);
      else inside.delete(next.term);
      left++;
    }
    if (inside.size > best.terms) best = { first, terms: inside.size };
  }
  return best.first;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML. The result is also safe in an attribute's value between quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
