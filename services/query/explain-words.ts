import { entryOfSource } from '../../shared/read-index/entry-of-source.ts';
import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { languageOf } from '../../shared/search/languages.ts';
import { type SearchField, searchSettingsOf } from '../../shared/search/search-settings.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { createHitExplanation } from './explain-hit.ts';

/** Explains a search by words: what was dropped and corrected, and why each hit of the page is one. Undefined for other searches. */
export function explainWords(
  type: ContentType,
  { text }: SearchRequest,
  { text: report, hits }: SearchResult,
): object | undefined {
  if (text === undefined || report === undefined) return undefined;
  const settings = searchSettingsOf(type);
  const fields = ownFields(settings.fields, text.fields);
  const known = new Set([...report.terms.values()].flat().map(({ typed }) => typed));
  const [locale = settings.locale] = text.locales === 'all' ? [] : text.locales;
  const { stopWords } = languageOf(locale);
  const typed = splitWords(text.query, locale).map(({ word }) => word);
  return {
    terms: [...known],
    stopWords: typed.filter((word) => !known.has(word) && stopWords.has(foldWord(word))),
    dropped: typed.filter((word) => !known.has(word) && !stopWords.has(foldWord(word))),
    corrected: Object.fromEntries(report.corrected),
    hits: hits.sources.map((source) => {
      const row = entryOfSource(source);
      const inLocale = row.locale ?? settings.locale;
      const terms = report.terms.get(inLocale) ?? [];
      const search = { fields, terms, locale: inLocale, compare: allow };
      const { first, ...why } = createHitExplanation(search, row)();
      return { documentId: row.documentId, locale: row.locale, ...why };
    }),
  };
}

/** Callers with full access may ask for any work. */
function allow(): void {}

/** Returns the texts of an entry itself that a search looks at. */
export function ownFields(
  fields: readonly SearchField[],
  named: ReadonlySet<string> | undefined,
): readonly SearchField[] {
  return fields.filter(({ name, path }) => path.length === 0 && (named?.has(name) ?? true));
}
