import { addToList } from '../../../map-values.ts';
import { languageOf } from '../../../search/languages.ts';
import { completeTerms, type SearchTerm, similarTerm, typosOfOther } from '../../../search/search-terms.ts';
import { chosenWords, type OtherWords, type WordsRequest } from '../../text-search.ts';
import type { Dsl } from '../plan/dsl.ts';
import { checkDepth } from '../plan/render-query.ts';
import { countWords } from './count-words.ts';
import {
  findTerm,
  findWords,
  type LocaleWords,
  localesOf,
  type WordScope,
  type WordTerm,
} from './find-words.ts';
import { matchQuery } from './rank-query.ts';
import { type MatchedWord, matchedWords, readVocabulary } from './read-words.ts';
import { termPattern } from './word-patterns.ts';

/** Finds words in place of words of a query. Only documents that `within` matches and words of searched fields count. */
export async function findOtherWords(
  scope: WordScope,
  within: Dsl,
  request: WordsRequest,
): Promise<readonly OtherWords[]> {
  const found = await findWords(scope, await localesOf(scope));
  // The first reading of a locale has the words as they were typed, without synonyms.
  const typed = found.filter(({ locale }, at) => found.findIndex((each) => each.locale === locale) === at);
  const isSimilar = request.kind === 'similar';
  const asked = isSimilar ? await Promise.all(typed.map((words) => complete(scope, words))) : typed;
  const places = new Set(asked.flatMap(({ terms }) => terms.map(({ term }) => term.place)));
  const replaced = isSimilar ? [...places].sort((a, b) => a - b) : [Math.max(...places)];
  return Promise.all(
    replaced.map(async (place) => {
      const parts = await Promise.all(
        asked.map((words) => othersInLocale(scope, words, { within, place, request })),
      );
      const words = chosenWords(
        parts.flatMap((part) => part.words),
        request,
      );
      return { place, rows: parts.reduce((sum, { rows }) => sum + rows, 0), words };
    }),
  );
}

/** Returns the terms as if a space followed the last word. */
async function complete(scope: WordScope, words: LocaleWords): Promise<LocaleWords> {
  const { locale, mode, terms } = words;
  const meant = completeTerms(
    terms.map(({ term }) => term),
    { language: languageOf(locale) },
  );
  const place = { session: scope.session, type: scope.type, locale };
  const found = await Promise.all(
    meant.map(
      async (term) => terms.find((each) => each.term === term) ?? (await findTerm(scope, place, mode, term)),
    ),
  );
  return { ...words, terms: found.flat() };
}

/** Asks for words at a place of the query. */
type Asked = { readonly within: Dsl; readonly place: number; readonly request: WordsRequest };

async function othersInLocale(
  scope: WordScope,
  { locale, mode, terms }: LocaleWords,
  { within, place, request }: Asked,
): Promise<Omit<OtherWords, 'place'>> {
  const others = terms.filter(({ term }) => term.place !== place);
  const having = others.length === 0 ? [] : [matchQuery(scope, [{ locale, mode, terms: others }])];
  const query = checkDepth({ bool: { filter: [within, inLocale(scope, locale), ...having] } });
  const replaced = terms.find(({ term }) => term.place === place);
  const groups = replaced === undefined ? [] : await candidatesFor(scope, locale, replaced, request);
  const [rows, counts] = await Promise.all([
    others.length === 0 ? 0 : countDocuments(scope, query),
    countWords(
      scope,
      locale,
      groups.map(({ words }) => words),
      { query },
    ),
  ]);
  return { rows, words: groups.map(({ word, typos }, at) => ({ word, typos, rows: counts[at] ?? 0 })) };
}

/** Matches the documents of a locale, if documents have one. */
function inLocale({ session, type }: WordScope, locale: string): Dsl {
  if (!session.layouts(type).root.scalars.has('locale')) return { match_all: {} };
  return { term: { 'f.locale': { value: locale } } };
}

async function countDocuments({ session, type }: WordScope, query: Dsl): Promise<number> {
  const { hits } = await session.search(type, { size: 0, query, track_total_hits: true });
  return hits.total?.value ?? 0;
}

/** A word as it is shown, and the words of the vocabulary that are written so. */
type Candidate = { readonly word: string; readonly typos: number; readonly words: readonly MatchedWord[] };

async function candidatesFor(
  scope: WordScope,
  locale: string,
  { term, words }: WordTerm,
  { kind }: WordsRequest,
): Promise<readonly Candidate[]> {
  if (kind === 'completed') return term.isPrefix ? candidatesIn(term, kind, words) : [];
  const similar = similarTerm(term);
  if (similar === undefined) return [];
  const place = { session: scope.session, type: scope.type, locale };
  const vocabulary = await readVocabulary(place, termPattern(locale, similar));
  return candidatesIn(similar, kind, matchedWords(similar, vocabulary));
}

function candidatesIn(
  term: SearchTerm,
  kind: WordsRequest['kind'],
  words: readonly MatchedWord[],
): readonly Candidate[] {
  const groups = new Map<string, MatchedWord[]>();
  for (const word of words)
    if (typosOfOther(term, kind, word, word.match) !== undefined) addToList(groups, word.key, word);
  return [...groups].map(([word, each]) => ({
    word,
    words: each,
    typos: Math.min(...each.map((one) => typosOfOther(term, kind, one, one.match) ?? 0)),
  }));
}
