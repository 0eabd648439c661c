import { splitTerms } from '../../shared/search/exact-terms.ts';
import { languageOf } from '../../shared/search/languages.ts';
import {
  AS_SPLIT,
  type IndexedWord,
  indexedWord,
  matchWord,
  type WordKind,
  type WordMatch,
} from '../../shared/search/match-word.ts';
import { allowAnotherTypo, type SearchTerm, splitsOf } from '../../shared/search/search-terms.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { withCompoundsNaively } from './naive-compounds.ts';
import { searchTerms } from './typed-terms.ts';

/** A row of a search. */
export type NaiveRow = {
  readonly id: number;
  readonly locale: string;
  /** Text of each field, in the order of the fields; a list if a field has several values. */
  readonly texts: readonly (string | readonly string[])[];
};

/** A searched field. A match is better if the field's weight is larger. */
export type NaiveField = { readonly name: string; readonly weight: number; readonly kind: WordKind };

export type NaiveSearch = {
  readonly query: string;
  readonly locales: readonly string[] | 'all';
  readonly fields?: ReadonlySet<string>;
  readonly typoTolerance: boolean;
};

type Word = IndexedWord & { readonly field: number; readonly position: number };
type Hit = {
  readonly term: number;
  readonly word: Word;
  readonly match: WordMatch;
  /** True if the word matches together with the word before it. */
  readonly isPair: boolean;
};
type ReadRow = { readonly row: NaiveRow; readonly words: readonly Word[] };

/**
 * Compares each word of each row with each word of the query. Returns the ids of the rows found among `within`, best first, and the
 * ranking values of each.
 */
export function searchNaively(
  rows: readonly NaiveRow[],
  fields: readonly NaiveField[],
  search: NaiveSearch,
  within: (row: NaiveRow) => boolean,
): { readonly id: number; readonly rank: readonly number[] }[] {
  const withWords = rows.filter((row) => readRow(row, fields).words.length > 0);
  const locales = [...new Set(withWords.map(({ locale }) => locale))].filter(
    (locale) => search.locales === 'all' || search.locales.includes(locale),
  );
  const parts = locales.map((locale) => {
    const all = rows.filter((row) => row.locale === locale).map((row) => readRow(row, fields));
    const part = { all, ...searchTerms(search.query, { ...search, language: languageOf(locale) }) };
    return { ...part, terms: part.terms.flatMap((term) => meant(term, part.mode, all, fields, search)) };
  });
  const isSearched = (hit: Hit) => isAllowed(search, fields[hit.word.field]);
  const found = (terms: readonly SearchTerm[], all: readonly ReadRow[], least: number) =>
    all
      .filter(({ row }) => within(row))
      .map((read) => ({ ...read, hits: hitsOf(terms, read).filter(isSearched) }))
      .filter(({ hits }) => new Set(hits.map(({ term }) => term)).size >= Math.min(least, terms.length));
  if (!/[\p{L}\p{N}]/u.test(search.query)) return [];
  if (parts.some(({ mode }) => mode === 'any'))
    return parts
      .flatMap(({ all, terms }) =>
        terms.length === 0
          ? []
          : found(terms, all, 1).map((read) => ({
              id: read.row.id,
              rank: [score(read, terms, all, fields, search)],
            })),
      )
      .sort(byRank);
  const places = parts.flatMap(({ terms }) => terms.map(({ place }) => place)).sort((a, b) => b - a);
  for (const place of places) {
    const matched = parts.flatMap(({ all, terms }) => {
      const kept = terms.filter((term) => term.place <= place);
      if (kept.length === 0) return [];
      return found(kept, all, kept.length).map(({ row, hits }) => ({
        id: row.id,
        rank: tiers(hits, kept.length, fields, meantTypos(kept, all, isSearched)),
      }));
    });
    if (matched.length > 0) return matched.sort(byRank);
  }
  return [];
}

function isAllowed({ fields: allowed }: NaiveSearch, field: NaiveField | undefined): boolean {
  return field !== undefined && (allowed?.has(field.name) ?? true);
}

function readRow(row: NaiveRow, fields: readonly NaiveField[]): ReadRow {
  const words: Word[] = [];
  let position = 0;
  for (const { field, text } of row.texts.flatMap((texts, field) =>
    [texts].flat().map((text) => ({ field, text })),
  )) {
    const found = splitWords(text, row.locale);
    if (found.length > 0) position += 6;
    for (const { word } of found) {
      const indexed = indexedWord(languageOf(row.locale), word, fields[field]?.kind ?? 'text');
      words.push({ ...indexed, field, position: ++position });
    }
  }
  return { row, words };
}

function meant(
  term: SearchTerm,
  mode: 'all' | 'any',
  all: readonly ReadRow[],
  fields: readonly NaiveField[],
  search: NaiveSearch,
): readonly SearchTerm[] {
  const [row] = all;
  const words = all.flatMap((read) => read.words);
  const searched = words.filter(({ field }) => isAllowed(search, fields[field]));
  const locale = row?.row.locale ?? '';
  const { stopWords } = languageOf(locale);
  const withCompounds = (each: SearchTerm) => withCompoundsNaively(each, searched, locale, stopWords);
  const isKnown = searched.some(({ folded, stem }) => folded === term.folded || stem === term.stem);
  const asked = withCompounds(mode === 'any' && isKnown ? { ...term, typos: 0, isPrefix: false } : term);
  const isThere = (each: SearchTerm) =>
    all.some((read) => hitsOf([each], read).some(({ word }) => isAllowed(search, fields[word.field])));
  if (isThere(asked)) return [asked];
  const guess = allowAnotherTypo(asked) ?? asked;
  if (mode === 'all' || isThere(guess)) return [guess];
  const split = splitsOf(guess).find((parts) =>
    parts.every((part) => searched.some(({ folded }) => folded === part)),
  );
  return split === undefined ? [guess] : splitTerms(guess, split, languageOf(locale)).map(withCompounds);
}

function hitsOf(terms: readonly SearchTerm[], { words }: ReadRow): Hit[] {
  return words.flatMap((word, at) =>
    terms.flatMap((each, term): Hit[] => {
      const match = matchWord(each, word);
      const before = words[at - 1];
      const isPair = before !== undefined && isSplit(each, before, word);
      return [
        ...(match === undefined ? [] : [{ term, word, match, isPair: false }]),
        ...(isPair ? [{ term, word, match: AS_SPLIT, isPair }] : []),
      ];
    }),
  );
}

/** Returns true if two words of a text were typed as one. */
function isSplit({ folded, splits }: SearchTerm, before: Word, word: Word): boolean {
  if (before.kind !== 'text' || word.kind !== 'text' || before.position + 1 !== word.position) return false;
  const isLong = before.folded.length > 1 && word.folded.length > 1;
  return splits.length > 0 && isLong && before.folded + word.folded === folded;
}

/** Returns for each term the smallest number of typos that a word of any row has. */
function meantTypos(
  terms: readonly SearchTerm[],
  all: readonly ReadRow[],
  isSearched: (hit: Hit) => boolean,
): number[] {
  const hits = all.flatMap((read) => hitsOf(terms, read)).filter(isSearched);
  return terms.map((_, term) =>
    Math.min(...hits.filter((hit) => hit.term === term && !hit.isPair).map(({ match }) => match.typos)),
  );
}

/** Returns the ranking values of a row: typos, distances, weights of fields, words that are not exact. */
function tiers(
  hits: readonly Hit[],
  terms: number,
  fields: readonly NaiveField[],
  meant: readonly number[],
): number[] {
  const weights = [...new Set(fields.map(({ weight }) => weight))].sort((a, b) => b - a);
  const best = Array.from({ length: terms }, (_, term) => {
    const own = hits.filter((hit) => hit.term === term);
    const least = Math.min(...own.map(({ match }) => match.typos));
    return own.filter(({ match }) => match.typos === least);
  });
  const near = best.map((own, term) =>
    own.filter(({ match, isPair }) => !isPair && match.typos === meant[term]),
  );
  const sum = (of: (own: readonly Hit[], term: number) => number) =>
    best.reduce((total, own, term) => total + of(own, term), 0);
  return [
    sum((own) => own[0]?.match.typos ?? 0),
    sum((_, term) => (term === 0 ? 0 : nearest(near[term - 1] ?? [], near[term] ?? []))),
    sum((own) => Math.min(...own.map(({ word }) => weights.indexOf(fields[word.field]?.weight ?? 0)))),
    sum((own) => (own.some(({ match }) => match.isExact) ? 0 : 1)),
  ];
}

function nearest(before: readonly Hit[], after: readonly Hit[]): number {
  const distances = before.flatMap((a) =>
    after.flatMap((b) => {
      const distance = b.word.position - a.word.position;
      if (distance === 0) return [];
      return [distance > 0 ? distance : 1 - distance];
    }),
  );
  return Math.min(5, ...distances);
}

function score(
  read: ReadRow,
  terms: readonly SearchTerm[],
  all: readonly ReadRow[],
  fields: readonly NaiveField[],
  search: NaiveSearch,
): number {
  const withWords = all.filter(({ words }) => words.length > 0).length;
  const lengthOf = (each: ReadRow, field: number) =>
    each.words.filter(
      (word) => word.field === field && !languageOf(each.row.locale).stopWords.has(word.folded),
    ).length;
  let total = 0;
  for (const term of terms) {
    const matches = (each: ReadRow) =>
      hitsOf([term], each).filter(({ word }) => isAllowed(search, fields[word.field]));
    const matching = all.filter((each) => matches(each).length > 0).length;
    let frequency = 0;
    for (const [at, { weight }] of fields.entries()) {
      const here = matches(read)
        .filter(({ word }) => word.field === at)
        .reduce((sum, { match }) => sum + 0.5 ** match.typos, 0);
      const average = all.reduce((sum, each) => sum + lengthOf(each, at), 0) / Math.max(1, withWords);
      frequency += (weight * here) / (1 - 0.75 + 0.75 * (average === 0 ? 1 : lengthOf(read, at) / average));
    }
    const worth = term.count * Math.log(1 + (withWords - matching + 0.5) / (matching + 0.5));
    total += (worth * 3 * frequency) / (2 + frequency);
  }
  return -total;
}

type Ranked = { readonly id: number; readonly rank: readonly number[] };

function byRank(a: Ranked, b: Ranked): number {
  for (const [at, rank] of a.rank.entries()) {
    const other = b.rank[at] ?? 0;
    if (Math.abs(rank - other) > 1e-9) return rank - other;
  }
  return a.id - b.id;
}
