import { defined } from '../../shared/defined.ts';
import type { TextSearchReport } from '../../shared/read-index/text-search.ts';
import type { HighlightStyle, Mark } from '../../shared/search/highlight.ts';
import type { SearchSettings } from '../../shared/search/search-settings.ts';
import type { Highlight } from '../query/answer-size.ts';
import { createMarkers, shownText } from '../query/words-meta.ts';
import type { InstantQuery } from './instant-query.ts';
import type { MarkedAttribute } from './plan-hits.ts';

/** Row in the form of the list endpoint. */
export type HitRow = { readonly [attribute: string]: unknown };

/** Values with their matches, in the same structure as in the row. */
export type Marked = MarkedValue | readonly Marked[] | { [attribute: string]: Marked };

type MarkedValue = {
  readonly value: string;
  readonly matchLevel: 'none' | 'partial' | 'full';
  readonly matchedWords?: readonly string[];
  readonly fullyHighlighted?: boolean;
};

type MarkRow = (row: HitRow, attributes: readonly MarkedAttribute[]) => { [attribute: string]: Marked };

/** Returns a text without escaping: the client escapes it, and chooses its own tags. */
function asIs(text: string): string {
  return text;
}
const LETTER = /[\p{L}\p{N}]/u;

/** Creates a function that marks the matches in attributes of a row. All rows of a page can share it. */
export function createRowMarking(
  settings: SearchSettings,
  report: TextSearchReport | undefined,
  { tags, ellipsis }: Pick<InstantQuery, 'tags' | 'ellipsis'>,
  highlight: Highlight,
): MarkRow {
  const markerOf = createMarkers(settings, report);
  return (row, attributes) => {
    const own = row['locale'];
    const locale = typeof own === 'string' ? own : settings.locale;
    const terms = new Set((report?.terms.get(locale) ?? []).map(({ typed }) => typed)).size;
    const result: { [attribute: string]: Marked } = {};
    for (const attribute of attributes) {
      const marks = markerOf(attribute.path.join('.'), locale);
      const style = { ...tags, ellipsis, escape: asIs, ...defined({ snippet: attribute.snippet }) };
      const mark = (text: string) => markText(text, marks(text), { locale, terms, style, highlight });
      addMarked(result, row, attribute, mark);
    }
    return result;
  };
}

type TextRules = {
  readonly locale: string;
  readonly terms: number;
  readonly style: HighlightStyle;
  readonly highlight: Highlight;
};

function markText(text: string, marks: readonly Mark[], rules: TextRules): MarkedValue {
  const { locale, terms, style } = rules;
  const value = rules.highlight(text, marks, locale, style);
  const words = [...new Set(marks.map(({ term }) => term.typed))];
  const matchLevel = words.length === 0 ? 'none' : words.length < terms ? 'partial' : 'full';
  if (style.snippet !== undefined) return { value, matchLevel };
  if (matchLevel === 'none') return { value, matchLevel, matchedWords: [] };
  return { value, matchLevel, fullyHighlighted: isCovered(text, marks), matchedWords: words };
}

/** Returns whether every letter of a text is in a match. */
function isCovered(text: string, marks: readonly Mark[]): boolean {
  let at = 0;
  for (const { start, end } of marks) {
    if (LETTER.test(text.slice(at, start))) return false;
    at = Math.max(at, end);
  }
  return !LETTER.test(text.slice(at));
}

/** Goes along the path of an attribute in a row, and marks the values at its end. */
function addMarked(
  result: { [attribute: string]: Marked },
  row: HitRow,
  { path, type }: MarkedAttribute,
  mark: (text: string) => MarkedValue,
): void {
  const [name = '', ...rest] = path;
  const value = row[name];
  if (value === undefined || value === null) return;
  if (rest.length === 0) {
    const text = shownText({ name, type }, typeof value === 'string' ? value : jsonOf(type, value));
    if (text !== undefined) result[name] = mark(text);
    return;
  }
  const inner = { path: rest, type };
  const before = result[name];
  if (Array.isArray(value)) {
    const list = value.map((each: unknown, i): Marked => {
      const known = Array.isArray(before) ? (before[i] as { [attribute: string]: Marked }) : {};
      addMarked(known, objectOf(each), inner, mark);
      return known;
    });
    result[name] = list;
    return;
  }
  const known = (before ?? {}) as { [attribute: string]: Marked };
  addMarked(known, objectOf(value), inner, mark);
  result[name] = known;
}

function objectOf(value: unknown): HitRow {
  return typeof value === 'object' && value !== null ? (value as HitRow) : {};
}

/** Returns a blocks or JSON value unchanged, and any other value as text. */
function jsonOf(type: MarkedAttribute['type'], value: unknown): unknown {
  return type === 'blocks' || type === 'json' ? value : String(value);
}
