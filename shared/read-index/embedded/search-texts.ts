import { hasWords } from '../../search/split-words.ts';
import { PART, rest } from '../../turns/slice.ts';
import { compareCodePoints } from '../column.ts';
import { reportedTerms, type TextSearch, type TextSearchReport } from '../text-search.ts';
import { andBits, type Bits, countBits, orBits } from './bits.ts';
import { correctionOf, createLocaleSearches, type LocaleSearch } from './locale-search.ts';
import type { LocaleText } from './locale-text.ts';
import { borrowBits } from './row-set.ts';
import { bringUpToDate, type TextIndex } from './text-index.ts';

/** Rows and words that a search by words has found. */
export type FoundTexts = {
  /** Each with the terms that its rows had to match. */
  readonly searches: readonly LocaleSearch[];
  readonly matched: Bits;
  readonly report: TextSearchReport;
};

/** The terms of a query in each locale that is searched. Where a call ends with its slice, the next continues it. */
export function createTextTerms(index: TextIndex, search: TextSearch): () => readonly LocaleSearch[] {
  let pending: (() => LocaleSearch)[] | undefined;
  const searches: LocaleSearch[] = [];
  return () => {
    bringUpToDate(index);
    pending ??= textsOf(index, search).flatMap((text) => createLocaleSearches(index, text, search));
    while (searches.length < pending.length) {
      searches.push((pending[searches.length] as () => LocaleSearch)());
      rest(PART);
    }
    return searches;
  };
}

/** The locales that are searched, of those that rows have words in. */
function textsOf({ locales, rowSet, settings }: TextIndex, search: TextSearch): LocaleText[] {
  const isLocalized = rowSet.columnsByField.has('locale');
  const asked = isLocalized ? search.locales : [settings.locale];
  // By name: terms and corrections are reported in this order.
  const names = asked === 'all' ? [...locales.keys()].sort(compareCodePoints) : new Set(asked);
  return [...names].flatMap((name) => locales.get(name) ?? []).filter(({ rows }) => rows > 0);
}

/**
 * The rows among `within` that a query with these terms finds. Of few words all have to match; where no row has them all, the last
 * ones are left out until one does.
 */
export function matchTexts(
  index: TextIndex,
  searches: readonly LocaleSearch[],
  within: Bits,
  query: string,
): FoundTexts {
  const matched = borrowBits(index.rowSet);
  let kept = searches;
  // One mode for all locales, though a word may be a stop word in one of them only.
  if (searches.some(({ mode }) => mode === 'any')) {
    kept = searches.map((search) => ({ ...search, mode: 'any' }));
    for (const search of searches) orBits(matched, anyOf(index, search, within));
  } else if (hasWords(query)) kept = longestMatch(index, searches, within, matched);
  // Nothing but punctuation asks for nothing.
  else orBits(matched, within);
  return { searches: kept, matched, report: reportOf(kept) };
}

function anyOf({ rowSet }: TextIndex, { terms }: LocaleSearch, within: Bits): Bits {
  const rows = borrowBits(rowSet);
  for (const term of terms) orBits(rows, term.rows);
  andBits(rows, within);
  return rows;
}

/** As many of the typed words as any row matches: what is behind them is left out, in every locale. */
function longestMatch(
  { rowSet }: TextIndex,
  searches: readonly LocaleSearch[],
  within: Bits,
  matched: Bits,
): readonly LocaleSearch[] {
  const places = searches.flatMap(({ terms }) => terms.map(({ term }) => term.place));
  for (const place of new Set(places.sort((a, b) => b - a))) {
    const shorter = searches.map((search) => ({
      ...search,
      terms: search.terms.filter(({ term }) => term.place <= place),
    }));
    for (const { terms } of shorter) {
      if (terms.length === 0) continue;
      const rows = borrowBits(rowSet);
      orBits(rows, within);
      for (const term of terms) andBits(rows, term.rows);
      orBits(matched, rows);
    }
    if (countBits(matched) > 0) return shorter;
  }
  return searches;
}

function reportOf(searches: readonly LocaleSearch[]): TextSearchReport {
  const corrected = new Map<string, string>();
  for (const search of searches) {
    for (const each of search.terms) {
      const word = correctionOf(search, each);
      if (word !== undefined && !corrected.has(each.term.typed)) corrected.set(each.term.typed, word);
    }
  }
  const terms = reportedTerms(
    searches.map(({ text, terms }) => ({ locale: text.locale, terms: terms.map(({ term }) => term) })),
  );
  return { terms, corrected };
}
