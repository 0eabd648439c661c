import { defined } from '../../shared/defined.ts';
import { valueAt } from '../../shared/map-values.ts';
import { entryOfSource, type SourceEntry } from '../../shared/read-index/entry-of-source.ts';
import { facetText } from '../../shared/read-index/facet-values.ts';
import type { FacetCounts } from '../../shared/read-index/facets.ts';
import type { SearchResult } from '../../shared/read-index/read-index.ts';
import type { TextSearchReport } from '../../shared/read-index/text-search.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { SearchRule } from '../../shared/schema/search-rules.ts';
import { createMarker, escapeHtml } from '../../shared/search/highlight.ts';
import { languageOf } from '../../shared/search/languages.ts';
import { plainRichText } from '../../shared/search/rich-text.ts';
import { type SearchSettings, searchSettingsOf } from '../../shared/search/search-settings.ts';
import { visibleText } from '../../shared/search/visible-text.ts';
import { rest } from '../../shared/turns/slice.ts';
import { createCountedHighlight, createLetterCount } from './answer-size.ts';
import type { FacetPlan } from './facets.ts';
import type { HighlightedAttribute, HighlightPlan } from './highlights.ts';

/** Plan of the members of `meta` that a search by words adds. */
export type WordsPlan = {
  readonly type: ContentType;
  readonly facets: readonly FacetPlan[];
  readonly highlights: HighlightPlan | undefined;
  /** True if the answer may have one document in several locales. */
  readonly manyLocales: boolean;
  /** The rules of the type that the typed words fulfil. */
  readonly rules: readonly SearchRule[];
  /** True if the filter of a rule counts in place of some of the typed words. */
  readonly replacesWords: boolean;
};

/**
 * Creates the members of `meta` as JSON, each after a comma. `suggestion`: the query to type instead. If a call ends with its slice, the next
 * call continues it.
 */
export function createWordsMeta(
  plan: WordsPlan,
  { text, facets, hits, groups }: SearchResult,
  suggestion?: string,
): () => string {
  const mark =
    plan.highlights === undefined ? undefined : createHighlights(plan, plan.highlights, hits.sources, text);
  return () => {
    const highlights = mark?.();
    const members: string[] = [];
    if (text !== undefined) members.push(`"search":${searchJson(text, suggestion)}`);
    if (facets !== undefined) members.push(...facetMembers(plan.facets, facets));
    if (groups !== undefined) members.push(`"groups":${JSON.stringify(groups)}`);
    if (highlights !== undefined) members.push(`"highlights":${highlights}`);
    return members.map((member) => `,${member}`).join('');
  };
}

function searchJson({ terms, corrected }: TextSearchReport, suggestion: string | undefined): string {
  const typed = new Set([...terms.values()].flatMap((each) => each.map((term) => term.typed)));
  return JSON.stringify({ terms: [...typed], corrected: Object.fromEntries(corrected), suggestion });
}

/** Written member by member: JavaScript puts names that are numbers in an order of their own. */
function objectJson(members: Iterable<readonly [string, string]>): string {
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}

function facetMembers(plans: readonly FacetPlan[], counts: readonly FacetCounts[]): readonly string[] {
  const facets = plans.map(({ name }, at): [string, string] => [
    name,
    objectJson((counts[at]?.values ?? []).map(({ value, count }) => [value, String(count)])),
  ]);
  const stats = plans.flatMap(({ name, request }, at): [string, string][] => {
    const found = counts[at]?.stats;
    if (found === undefined) return [];
    const bounds = { min: facetText(request.type, found.min), max: facetText(request.type, found.max) };
    const isNumber = request.type !== 'date' && request.type !== 'datetime' && request.type !== 'time';
    return [[name, JSON.stringify(isNumber ? found : bounds)]];
  });
  return [`"facets":${objectJson(facets)}`, `"facetStats":${objectJson(stats)}`];
}

/** Letters of a text that one step of a slice handles. */
const STEP_LETTERS = 8;

/**
 * Creates the highlights as JSON, by documentId; if a document may appear in several locales, by `<documentId>:<locale>`. If a call ends with
 * its slice, the next call continues it.
 */
export function createHighlights(
  { type, manyLocales }: WordsPlan,
  plan: HighlightPlan,
  sources: readonly Uint8Array[],
  report: TextSearchReport | undefined,
): () => string {
  const mark = createMark(type, plan, report);
  const rows: (readonly [string, string])[] = [];
  let row: SourceEntry | undefined;
  let members: [string, string][] = [];
  let next = 0;
  return () => {
    while (rows.length < sources.length) {
      row ??= entryOfSource<SourceEntry>(sources[rows.length] as Uint8Array);
      while (next < plan.attributes.length) {
        const { name, marked, letters } = mark(row, plan.attributes[next++] as HighlightedAttribute);
        if (marked !== undefined) members.push([name, JSON.stringify(marked)]);
        rest(1 + Math.ceil(letters / STEP_LETTERS));
      }
      const isOneOfMany = manyLocales && row.locale !== undefined;
      rows.push([isOneOfMany ? `${row.documentId}:${row.locale}` : row.documentId, objectJson(members)]);
      row = undefined;
      members = [];
      next = 0;
    }
    return objectJson(rows);
  };
}

/** Finds matches in an attribute of rows of a locale. */
type Markers = (attribute: string, locale: string) => ReturnType<typeof createMarker>;

/** Creates one marker per locale and kind of attribute, for all rows. */
export function createMarkers({ fields }: SearchSettings, report: TextSearchReport | undefined): Markers {
  const known = new Map<string, ReturnType<typeof createMarker>>();
  return (attribute, locale) => {
    const field = fields.find(({ name }) => name === attribute);
    return valueAt(known, `${field?.kind} ${locale}`, () =>
      createMarker({
        language: languageOf(locale),
        // A field that is not searched has no matches.
        terms: field === undefined ? [] : (report?.terms.get(locale) ?? []),
        kind: field?.kind ?? 'text',
      }),
    );
  };
}

type Marked = { readonly name: string; readonly marked: string | undefined; readonly letters: number };

/** Marks the matches in an attribute of a row. */
function createMark(
  type: ContentType,
  { before, after }: HighlightPlan,
  report: TextSearchReport | undefined,
): (row: SourceEntry, attribute: HighlightedAttribute) => Marked {
  const settings = searchSettingsOf(type);
  const markerOf = createMarkers(settings, report);
  const highlight = createCountedHighlight(createLetterCount());
  return (row, attribute) => {
    const { name, snippet } = attribute;
    const text = shownText(attribute, row[name]);
    if (text === undefined) return { name, marked: undefined, letters: 0 };
    const locale = row.locale ?? settings.locale;
    const style = { before, after, escape: escapeHtml, ...defined({ snippet }) };
    return {
      name,
      marked: highlight(text, markerOf(name, locale)(text), locale, style),
      letters: text.length,
    };
  };
}

/** Returns the text of a value as highlights show it. */
export function shownText({ type }: HighlightedAttribute, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return type === 'richtext' ? plainRichText(text) : visibleText(type, text);
}
