import type { Uid } from '../../../schema/content-type.ts';
import { hasWords } from '../../../search/split-words.ts';
import { compareCodePoints } from '../../column.ts';
import { reportOf, type TextSearch, type TextSearchReport } from '../../text-search.ts';
import type { Dsl } from '../plan/dsl.ts';
import { checkDepth } from '../plan/render-query.ts';
import { bucketsIn } from '../wire/search-answer.ts';
import { type AssumedWords, assumeWords } from './assume-words.ts';
import { findWords, type LocaleWords, localesOf, type WordScope, type WordTerm } from './find-words.ts';
import { matchQuery, rankedQuery } from './rank-query.ts';
import { hasToken, isThere, type MatchedWord, tokensOf } from './read-words.ts';
import type { Session } from './session.ts';

/** Queries for a search by words. */
export type WordQuery = {
  /** Matches the documents within the search that have the words. */
  readonly query: Dsl;
  /** Matches the same documents, with scores for the order. */
  readonly ranked: Dsl;
};

type WordSearch = {
  readonly session: Session;
  readonly type: Uid;
  readonly text: TextSearch;
  /** Matches the documents within which words are searched. */
  readonly within: Dsl;
};

const NOTHING: Dsl = { match_none: {} };

/** Runs `find` with the query for a search by words. A query of signs only matches nothing. */
export async function searchWords<Found>(
  { session, type, text, within }: WordSearch,
  find: (words: WordQuery) => Promise<Found>,
): Promise<{ readonly found: Found; readonly report: TextSearchReport }> {
  const settings = session.layouts(type).words;
  const fields = settings.fields.filter(({ name }) => text.fields?.has(name) ?? true);
  const scope: WordScope = { session, type, settings, text, fields };
  const names = await localesOf(scope);
  if (!hasWords(text.query)) {
    const report = await findReport(scope, await findWords(scope, names));
    return { found: await find({ query: NOTHING, ranked: NOTHING }), report };
  }
  const assumed = await assumeWords(scope, names);
  const early = assumed && (await findEarly(scope, assumed, within, find));
  if (early !== undefined) return early;
  const locales = await longestMatch(scope, await findWords(scope, names), within);
  const [found, report] = await Promise.all([
    find(queryOf(scope, locales, within)),
    findReport(scope, locales),
  ]);
  return { found, report };
}

/**
 * Runs `find` with the assumed words. At the same time it checks that the assumption is right and that some document has all words;
 * undefined if not.
 */
async function findEarly<Found>(
  scope: WordScope,
  assumed: AssumedWords,
  within: Dsl,
  find: (words: WordQuery) => Promise<Found>,
): Promise<{ readonly found: Found; readonly report: TextSearchReport } | undefined> {
  const words = queryOf(scope, assumed.locales, within);
  const finding = find(words);
  // If the assumption is wrong, the result of this search is ignored, including its failure.
  finding.catch(() => {});
  const [areRight, isWhole, report] = await Promise.all([
    assumed.areRight(),
    isThere(scope, words.query),
    findReport(scope, assumed.locales),
  ]);
  return areRight && isWhole ? { found: await finding, report } : undefined;
}

function queryOf(scope: WordScope, locales: readonly LocaleWords[], within: Dsl): WordQuery {
  const [matched, ranked] = [matchQuery(scope, locales), rankedQuery(scope, locales)];
  return {
    query: checkDepth({ bool: { filter: [within, matched] } }),
    ranked: checkDepth({ bool: { filter: [within], must: [ranked] } }),
  };
}

/** Returns the longest beginning of the typed words that some document matches. Later words are dropped in every locale. */
async function longestMatch(
  scope: WordScope,
  locales: readonly LocaleWords[],
  within: Dsl,
): Promise<readonly LocaleWords[]> {
  if (locales.some(({ mode }) => mode === 'any')) return locales.map((each) => ({ ...each, mode: 'any' }));
  const typed = locales.flatMap(({ terms }) => terms.map(({ term }) => term.place));
  const places = [...new Set(typed)].sort((a, b) => b - a);
  const shorter = places.map((place) => locales.map((each) => upTo(place, each)));
  const found = await Promise.all(
    // As an async function it cannot throw when another search has already been sent.
    shorter.map(async (kept) =>
      isThere(scope, checkDepth({ bool: { filter: [within, matchQuery(scope, kept)] } })),
    ),
  );
  return shorter[found.indexOf(true)] ?? locales;
}

function upTo(place: number, { terms, ...locale }: LocaleWords): LocaleWords {
  return { ...locale, terms: terms.filter(({ term }) => term.place <= place) };
}

async function findReport(scope: WordScope, locales: readonly LocaleWords[]): Promise<TextSearchReport> {
  const readings = locales.map(async ({ locale, terms }) => ({
    locale,
    terms: await Promise.all(
      terms.map(async (each) => ({ term: each.term, correction: await correctionOf(scope, locale, each) })),
    ),
  }));
  return reportOf(await Promise.all(readings));
}

/** Maximum words whose documents are counted to find a correction. */
const MOST_COUNTED = 200;

/** Returns the correction of a term: among the words with the fewest typos, the word in most documents. */
async function correctionOf(
  { session, type, fields }: WordScope,
  locale: string,
  { words }: WordTerm,
): Promise<string | undefined> {
  const least = Math.min(...words.map(({ match }) => match.typos));
  if (words.length === 0 || least < 1) return undefined;
  const alike = words.filter(({ match }) => match.typos === least).slice(0, MOST_COUNTED);
  const filters = alike.flatMap((word) => fields.map((field) => hasToken(tokensOf(locale, [word], [field]))));
  const answer = await session.search(type, {
    size: 0,
    query: hasToken(tokensOf(locale, alike, fields)),
    aggs: { rows: { filters: { filters } } },
  });
  const counts = bucketsIn<{ readonly doc_count: number }>(answer, 'rows').map(({ doc_count }) => doc_count);
  return mostFrequent(alike, (at) =>
    counts.slice(at * fields.length, (at + 1) * fields.length).reduce((sum, count) => sum + count, 0),
  );
}

function mostFrequent(words: readonly MatchedWord[], rowsOf: (at: number) => number): string | undefined {
  const counted = words.map(({ key }, at) => ({ key, rows: rowsOf(at) }));
  const [best] = counted
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || compareCodePoints(a.key, b.key));
  return best?.key;
}
