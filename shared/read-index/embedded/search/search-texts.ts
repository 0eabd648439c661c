import { hasWords } from '../../../search/split-words.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { compareCodePoints } from '../../column.ts';
import type { TextSearch } from '../../text-search.ts';
import { andBits, type Bits, countBits, orBits } from '../lists/bits.ts';
import { borrowBits } from '../rows/row-set.ts';
import type { LocaleText } from '../words/locale-text.ts';
import { bringUpToDate, type TextIndex } from '../words/text-index.ts';
import { createLocaleSearches, type LocaleSearch } from './locale-search.ts';

/** Rows that a search by words has found, and its words. */
export type FoundTexts = {
  /** Searches, each with the terms that its rows must match. */
  readonly searches: readonly LocaleSearch[];
  readonly matched: Bits;
};

/** Finds the terms of a query in each searched locale. If a call ends with its slice, the next call continues. */
export function createTextTerms(index: TextIndex, search: TextSearch): () => readonly LocaleSearch[] {
  let find: (() => readonly LocaleSearch[]) | undefined;
  return () => {
    bringUpToDate(index);
    find ??= createSequence(
      textsOf(index, search).flatMap((text) => createLocaleSearches(index, text, search)),
    );
    return find();
  };
}

/** Returns the searched locales in which rows have words. */
function textsOf({ locales, rowSet, settings }: TextIndex, search: TextSearch): LocaleText[] {
  const isLocalized = rowSet.columnsByField.has('locale');
  const asked = isLocalized ? search.locales : [settings.locale];
  // The names are sorted, because terms and corrections are reported in this order.
  const names = asked === 'all' ? [...locales.keys()].sort(compareCodePoints) : new Set(asked);
  return [...names].flatMap((name) => locales.get(name) ?? []).filter(({ rows }) => rows > 0);
}

/**
 * Finds the rows among `within` that match a query with these terms. In a query of a few words all must match. If no row has all, the last
 * words are dropped until a row matches.
 */
export function matchTexts(
  index: TextIndex,
  searches: readonly LocaleSearch[],
  within: Bits,
  query: string,
): FoundTexts {
  const matched = borrowBits(index.rowSet);
  let kept = searches;
  // All locales use one mode, although a word may be a stop word in only one of them.
  if (searches.some(({ mode }) => mode === 'any')) {
    kept = searches.map((search) => ({ ...search, mode: 'any' }));
    for (const search of searches) orBits(matched, anyOf(index, search, within));
  } else if (hasWords(query)) kept = longestMatch(index, searches, within, matched);
  return { searches: kept, matched };
}

function anyOf({ rowSet }: TextIndex, { terms }: LocaleSearch, within: Bits): Bits {
  const rows = borrowBits(rowSet);
  for (const term of terms) orBits(rows, term.rows);
  andBits(rows, within);
  return rows;
}

/** Returns the longest beginning of the typed words that some row matches. Later words are dropped in every locale. */
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
