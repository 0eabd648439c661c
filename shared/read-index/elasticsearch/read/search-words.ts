import type { Uid } from '../../../schema/content-type.ts';
import { hasWords } from '../../../search/split-words.ts';
import type { TextSearch, TextSearchReport } from '../../text-search.ts';
import type { Dsl } from '../plan/dsl.ts';
import { checkDepth } from '../plan/render-query.ts';
import { type AssumedWords, assumeWords } from './assume-words.ts';
import { findReport } from './find-corrections.ts';
import { findWords, type LocaleWords, localesOf, type WordScope } from './find-words.ts';
import { boostScores, pinScores } from './placed-score.ts';
import { matchQuery, rankedQuery } from './rank-query.ts';
import { isThere } from './read-words.ts';
import type { Session } from './session.ts';
import { oneOf } from './word-intervals.ts';

/** Queries for a search by words. */
export type WordQuery = {
  /** Matches the documents within the search that have the words. */
  readonly query: Dsl;
  /** Matches the same documents, with scores for the order. */
  readonly ranked: Dsl;
  /** True: the scores are BM25. */
  readonly isQuestion: boolean;
};

type WordSearch = {
  readonly session: Session;
  readonly type: Uid;
  readonly text: TextSearch;
  /** Matches the documents within which words are searched. */
  readonly within: Dsl;
  /** Number of hits that are asked for. */
  readonly size: number;
  readonly rules: RuleQueries;
};

/** The queries of the owner's boosts, and of each pinned document. */
export type RuleQueries = { readonly boosts: readonly Dsl[]; readonly pinned: readonly Dsl[] };

/** Result of a search by words. `isWhole`: some document has all words of the query. */
type FoundWithWords<Found> = {
  readonly found: Found;
  readonly report: TextSearchReport;
  readonly isWhole: boolean;
};

const NOTHING: Dsl = { match_none: {} };

/** Returns the searched fields of a search, and where their words are. */
export function wordScope({ session, type, text }: Pick<WordSearch, 'session' | 'type' | 'text'>): WordScope {
  const settings = session.layouts(type).words;
  const fields = settings.fields.filter(({ name }) => text.fields?.has(name) ?? true);
  return { session, type, settings, text, fields };
}

/** Runs `find` with the query for a search by words. A query of signs only matches nothing. */
export async function searchWords<Found>(
  { within, size, rules, ...search }: WordSearch,
  find: (words: WordQuery) => Promise<Found>,
): Promise<FoundWithWords<Found>> {
  const scope = wordScope(search);
  const { text } = scope;
  const names = await localesOf(scope);
  if (!hasWords(text.query)) {
    const report = await findReport(scope, await findWords(scope, names), { within, size });
    const nothing = { query: NOTHING, ranked: NOTHING, isQuestion: false };
    return { found: await find(nothing), report, isWhole: false };
  }
  const assumed = await assumeWords(scope, names);
  const early = assumed && (await findEarly(scope, assumed, { within, size, rules }, find));
  if (early !== undefined) return early;
  const { locales, isWhole } = await longestMatch(scope, await findWords(scope, names), within);
  const [found, report] = await Promise.all([
    find(queryOf(scope, locales, { within, rules })),
    findReport(scope, locales, { within, size }),
  ]);
  return { found, report, isWhole };
}

/**
 * Runs `find` with the assumed words. At the same time it checks that the assumption is right and that some document has all words;
 * undefined if not.
 */
async function findEarly<Found>(
  scope: WordScope,
  assumed: AssumedWords,
  asked: Pick<WordSearch, 'within' | 'size' | 'rules'>,
  find: (words: WordQuery) => Promise<Found>,
): Promise<FoundWithWords<Found> | undefined> {
  const words = queryOf(scope, assumed.locales, asked);
  const finding = find(words);
  // If the assumption is wrong, the result of this search is ignored, including its failure.
  finding.catch(() => {});
  const [areRight, isWhole, report] = await Promise.all([
    assumed.areRight(),
    isFound(scope, assumed.locales, asked.within),
    findReport(scope, assumed.locales, asked),
  ]);
  return areRight && isWhole ? { found: await finding, report, isWhole } : undefined;
}

function queryOf(
  scope: WordScope,
  locales: readonly LocaleWords[],
  { within, rules }: Pick<WordSearch, 'within' | 'rules'>,
): WordQuery {
  const [matched, ranked] = [matchQuery(scope, locales), rankedQuery(scope, locales)];
  const isQuestion = locales.some(({ mode }) => mode === 'any');
  const { placed } = scope.text;
  const should = placed === undefined ? [] : boostScores(placed, rules.boosts, isQuestion);
  const scored: Dsl = should.length === 0 ? ranked : { bool: { must: [ranked], should } };
  const pins = pinScores(rules.pinned);
  const best: Dsl = pins.length === 0 ? scored : { dis_max: { queries: [scored, ...pins] } };
  const found = pins.length === 0 ? matched : oneOf([matched, ...pins]);
  return {
    query: checkDepth({ bool: { filter: [within, found] } }),
    ranked: checkDepth({ bool: { filter: [within], must: [best] } }),
    isQuestion,
  };
}

/** Returns the longest beginning of the typed words that some document matches. Later words are dropped in every locale. */
async function longestMatch(
  scope: WordScope,
  locales: readonly LocaleWords[],
  within: Dsl,
): Promise<{ readonly locales: readonly LocaleWords[]; readonly isWhole: boolean }> {
  if (locales.some(({ mode }) => mode === 'any')) return matchAny(scope, locales, within);
  const typed = locales.flatMap(({ terms }) => terms.map(({ term }) => term.place));
  const places = [...new Set(typed)].sort((a, b) => b - a);
  const shorter = places.map((place) => locales.map((each) => upTo(place, each)));
  const found = await Promise.all(shorter.map((kept) => isFound(scope, kept, within)));
  return { locales: shorter[found.indexOf(true)] ?? locales, isWhole: found[0] === true };
}

/** Returns a question. Only a search that asks for similar words needs to know whether it finds a document. */
async function matchAny(scope: WordScope, locales: readonly LocaleWords[], within: Dsl) {
  const asked = locales.map((each): LocaleWords => ({ ...each, mode: 'any' }));
  const isWhole = scope.text.words?.kind !== 'similar' || (await isFound(scope, asked, within));
  return { locales: asked, isWhole };
}

/** Returns whether some document among `within` is found. As an async function it cannot throw when another search has already been sent. */
async function isFound(scope: WordScope, locales: readonly LocaleWords[], within: Dsl): Promise<boolean> {
  return isThere(scope, checkDepth({ bool: { filter: [within, matchQuery(scope, locales)] } }));
}

function upTo(place: number, { terms, ...locale }: LocaleWords): LocaleWords {
  return { ...locale, terms: terms.filter(({ term }) => term.place <= place) };
}
