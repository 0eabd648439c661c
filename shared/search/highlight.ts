import type { Language } from './languages.ts';
import { indexedWord, matchWord, type WordKind } from './match-word.ts';
import { letterFilter, scanWords } from './scan-words.ts';
import type { SearchTerm } from './search-terms.ts';
import { splitWords } from './split-words.ts';

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
  /** Words of a snippet. Absent = the whole text. */
  readonly snippet?: number;
};

const ELLIPSIS = '…';

/**
 * Finds the words of texts that match a query, in order; of a word whose beginning was typed the beginning. Each distinct word is
 * compared once, for all texts.
 */
export function createMarker(rules: MarkRules): (text: string) => readonly Mark[] {
  if (rules.terms.length === 0) return () => [];
  const known = new Map<string, WordMark | undefined>();
  const filter = letterFilter(rules);
  const addMark = (marks: Mark[], word: string, start: number, end: number): void => {
    if (!known.has(word)) known.set(word, markOf(word, rules));
    const found = known.get(word);
    if (found !== undefined)
      marks.push({ start, end: Math.min(end, start + found.length), term: found.term });
  };
  return (text) => {
    const marks: Mark[] = [];
    const isScanned = scanWords(text, filter, (start, end) =>
      addMark(marks, text.slice(start, end).toLowerCase(), start, end),
    );
    if (isScanned) return marks;
    const others: Mark[] = [];
    for (const { word, start, end } of splitWords(text, rules.language.locale))
      addMark(others, word, start, end);
    return others;
  };
}

/** The term that a word matches, and how much of the word. */
type WordMark = { readonly term: SearchTerm; readonly length: number };

function markOf(word: string, { language, terms, kind }: MarkRules): WordMark | undefined {
  const indexed = indexedWord(language, word, kind);
  const { folded } = indexed;
  let best: { term: SearchTerm; length: number; typos: number } | undefined;
  for (const term of terms) {
    const match = matchWord(term, indexed);
    if (match === undefined || (best !== undefined && best.typos <= match.typos)) continue;
    const isBeginning =
      term.isPrefix && !match.isExact && folded.length === word.length && folded.startsWith(term.folded);
    const length = isBeginning ? term.folded.length : Number.POSITIVE_INFINITY;
    best = { term, length, typos: match.typos };
  }
  return best;
}

/** The text, or a snippet of it, with its marks between two tags. */
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
  const parts: string[] = start > 0 ? [ELLIPSIS] : [];
  let at = start;
  for (const mark of marks) {
    if (mark.start < at || mark.end > end) continue;
    parts.push(style.escape(text.slice(at, mark.start)));
    parts.push(style.before, style.escape(text.slice(mark.start, mark.end)), style.after);
    at = mark.end;
  }
  parts.push(style.escape(text.slice(at, end)));
  if (end < text.length) parts.push(ELLIPSIS);
  return parts.join('');
}

/** The stretch of so many words with the most different terms, the first of those. */
function snippetOf(
  text: string,
  marks: readonly Mark[],
  locale: string,
  size: number,
): { readonly start: number; readonly end: number } {
  const words = splitWords(text, locale);
  if (words.length <= size) return { start: 0, end: text.length };
  const places = marks.map((mark) => ({ mark, word: words.findIndex(({ start }) => start === mark.start) }));
  let best = { first: 0, terms: 0 };
  for (const { word } of places) {
    // A third of the words come before the first match.
    const first = Math.min(Math.max(0, word - Math.floor(size / 3)), words.length - size);
    const inside = places.filter((place) => place.word >= first && place.word < first + size);
    const terms = new Set(inside.map(({ mark }) => mark.term)).size;
    if (terms > best.terms) best = { first, terms };
  }
  const [from, to] = [words[best.first], words[best.first + size - 1]];
  return { start: from?.start ?? 0, end: to?.end ?? text.length };
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML, also in an attribute's value between quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
