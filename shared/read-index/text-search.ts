import { valueAt } from '../map-values.ts';
import type { SynonymGroups } from '../schema/content-type.ts';
import type { RankTier } from '../schema/search-options.ts';
import { foldWord } from '../search/fold-word.ts';
import type { WordMatch } from '../search/match-word.ts';
import type { SearchTerm } from '../search/search-terms.ts';
import type { BoolQuery } from './bool-query.ts';
import { compareCodePoints } from './column.ts';

/** A request for rows by the words of their texts. */
export type TextSearch = {
  readonly query: string;
  /** Locales whose words are searched. */
  readonly locales: readonly string[] | 'all';
  /** Names of the fields to search. Absent = all. */
  readonly fields?: ReadonlySet<string>;
  readonly typoTolerance: boolean;
  /** True to order rows by relevance. `sort` is the order of rows with the same relevance then. */
  readonly isRanked: boolean;
  /** The owner's rules with a place between the tiers of relevance. Absent = none. */
  readonly placed?: PlacedRules;
  /** Synonyms in addition to those of the content type. An index prepares them once per object. Absent = none. */
  readonly synonyms?: readonly SynonymGroups[];
  /** Asks for words in place of those of the query. */
  readonly words?: WordsRequest;
};

/**
 * Rules that order the rows of a ranked search. The tiers of relevance are typos, distance, weight and exact words. The BM25 score of a
 * question is one tier instead: rules before `typos` come before it. Of the others only the keys count, after it.
 */
export type PlacedRules = {
  /** Ids of documents that come first, in this order, if they are among the rows of the search. They need no words of the query. */
  readonly pinned: readonly string[];
  /** Rows that match come first, at the place of the rule. At most two. Rules with the same place are in their order, before the keys. */
  readonly boosts: readonly { readonly query: BoolQuery; readonly before: RankPlace }[];
  /** Order of the rows that are equal before the tier `keysBefore`. */
  readonly keys: readonly RankKey[];
  readonly keysBefore: RankPlace;
};

/** A sort key (`SortKey`) by an attribute of the rows themselves. */
export type RankKey = {
  readonly path: readonly [];
  readonly field: string;
  readonly direction: 'asc' | 'desc-null-last';
};

/** Place of a rule: before a tier, or after all of them. */
export type RankPlace = RankTier | 'end';

/**
 * A request for words in place of words of a query. `completed`: words that begin with the last word; if no row has one, those that begin
 * with the fewest typos. `similar`: for each word other words, which differ by a typo or two. They are only looked for if no row has all
 * words of the query.
 */
export type WordsRequest = { readonly kind: 'completed' | 'similar'; readonly limit: number };

/** Words in place of one word of a query. */
export type OtherWords = {
  /** Place of the word among the typed words, as in `SearchTerm`. */
  readonly place: number;
  /** Number of rows that the query finds without the word, and without dropping other words; 0 if it has no others. */
  readonly rows: number;
  /** Words that some of these rows have. */
  readonly words: readonly OtherWord[];
};

/** `rows`: number of rows that have the word. */
export type OtherWord = { readonly word: string; readonly typos: number; readonly rows: number };

/** Report on the words of a search. */
export type TextSearchReport = {
  /** Words that rows had to match, by locale. */
  readonly terms: ReadonlyMap<string, readonly SearchTerm[]>;
  /** Words by which typed words were replaced, by the typed word. */
  readonly corrected: ReadonlyMap<string, string>;
};

/** Terms of a query in one locale, each with its correction if it was corrected. */
export type ReportedReading = {
  readonly locale: string;
  readonly terms: readonly { readonly term: SearchTerm; readonly correction: string | undefined }[];
};

/** Returns the report on a query. Each locale has the terms of all its readings, each once. */
export function reportOf(readings: readonly ReportedReading[]): TextSearchReport {
  const terms = new Map<string, SearchTerm[]>();
  const corrected = new Map<string, string>();
  for (const reading of readings) {
    const known = valueAt(terms, reading.locale, () => []);
    const isNew = ({ folded, place }: SearchTerm) =>
      !known.some((each) => each.folded === folded && each.place === place);
    known.push(...reading.terms.map(({ term }) => term).filter(isNew));
    for (const { term, correction } of reading.terms)
      if (correction !== undefined) valueAt(corrected, term.typed, () => correction);
  }
  return { terms, corrected };
}

/** A word that may be the correction of a term, and the number of the best rows that have it. */
export type CorrectionWord = { readonly key: string; readonly match: WordMatch; readonly rows: number };

/**
 * Returns the word that the best rows have in place of a term: one with the fewest typos, rather a whole word than one that begins with the
 * term, and then the one in most of them.
 * Undefined if they have none.
 */
export function mostFrequentWord(words: readonly CorrectionWord[]): string | undefined {
  const [best] = words
    .filter(({ rows }) => rows > 0)
    .sort(
      (a, b) =>
        a.match.typos - b.match.typos ||
        Number(b.match.isExact) - Number(a.match.isExact) ||
        b.rows - a.rows ||
        isPlain(a.key) - isPlain(b.key) ||
        compareCodePoints(a.key, b.key),
    );
  return best?.key;
}

/** Returns 0 for a word with accents, which is shown rather than the same word without them, and 1 for others. */
function isPlain(word: string): number {
  return Number(foldWord(word) === word);
}

/**
 * Returns the words to show: of those that some row has, the ones with the fewest typos, the most frequent first. Words that differ only in
 * accents are shown once. `counted`: words by locale; a word of several locales has the rows of all.
 */
export function chosenWords(counted: readonly OtherWord[], { limit }: WordsRequest): readonly OtherWord[] {
  const there = [...Map.groupBy(counted, ({ word }) => word)]
    .map(([word, each]): OtherWord => {
      const typos = Math.min(...each.map((one) => one.typos));
      return { word, typos, rows: each.reduce((sum, { rows }) => sum + rows, 0) };
    })
    .filter(({ rows }) => rows > 0);
  const least = Math.min(...there.map(({ typos }) => typos));
  const best = there
    .filter(({ typos }) => typos === least)
    .sort(
      (a, b) => b.rows - a.rows || isPlain(a.word) - isPlain(b.word) || compareCodePoints(a.word, b.word),
    );
  const shown = new Map<string, OtherWord>();
  for (const each of best) valueAt(shown, foldWord(each.word), () => each);
  return [...shown.values()].slice(0, limit);
}
