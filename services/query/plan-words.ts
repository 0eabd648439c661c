import { defined } from '../../shared/defined.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import type { GroupRequest } from '../../shared/read-index/row-groups.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { searchOf } from '../../shared/search/search-settings.ts';
import { allOf } from './combine-queries.ts';
import { resolveDistinct } from './distinct.ts';
import { resolveFacets } from './facets.ts';
import { resolveHighlights } from './highlights.ts';
import { type LocaleChoice, namesLocale } from './locale.ts';
import { ownerRanking } from './owner-ranking.ts';
import type { Problems } from './problems.ts';
import { lookUp, type QueryScope, queryModelOf } from './query-model.ts';
import type { QueryObject } from './query-string.ts';
import { applyRules } from './search-rules.ts';
import { resolveTextSearch, searchedLocales, WORD_PARAMETERS } from './text-search.ts';
import type { WordsPlan } from './words-meta.ts';

type PlannedWords = {
  readonly plan: WordsPlan;
  readonly text: TextSearch | undefined;
  /** Order of rows with the same relevance; undefined: the search is not ranked. */
  readonly ties: readonly SortKey[] | undefined;
  /** Conditions of the owner's rules for these words. */
  readonly conditions: readonly BoolQuery[];
  readonly groups: GroupRequest | undefined;
};

type WordsContext = {
  readonly type: ContentType;
  readonly scope: QueryScope;
  readonly defaultLocale: string;
  readonly locale: LocaleChoice;
  readonly sort: readonly SortKey[];
  /** False: the owner's rules for some searches do not count. */
  readonly withRules: boolean;
  readonly problems: Problems;
};

/** Returns whether the request has a search by words, facets or highlights. */
export function asksForWords(query: QueryObject): boolean {
  return WORD_PARAMETERS.some((name) => name in query);
}

/** Plans a search by words, facets and highlights. */
export function planWords(query: QueryObject, context: WordsContext): PlannedWords {
  const { type, scope, defaultLocale, locale, sort, withRules, problems } = context;
  const model = queryModelOf(scope.registry, type.uid);
  const locales = searchedLocales(locale, defaultLocale, namesLocale(query['filters']));
  const typed = resolveTextSearch(query, locales, problems);
  const applied = typed && withRules ? applyRules(type, typed, scope) : undefined;
  const text = typed && applied ? withQuery(typed, applied.query) : typed;
  const isRanked = sort.length === 0;
  // A ranked search keeps its order if a filter has replaced all of its words.
  const ranking = typed && isRanked ? ownerRanking(type, scope, applied?.pinned ?? []) : undefined;
  return {
    plan: {
      type,
      facets: resolveFacets(query['facets'], model, context),
      highlights: resolveHighlights(query, model, context),
      rules: applied?.rules ?? [],
      replacesWords: applied !== undefined && applied.query !== typed?.query,
      manyLocales: locales === 'all' || locales.length > 1,
    },
    ties: ranking?.ties,
    conditions: applied?.conditions ?? [],
    groups: resolveDistinct(query, model, context),
    text: text && {
      ...text,
      isRanked,
      ...defined({ fields: namedFields(context), placed: ranking?.placed }),
    },
  };
}

function withQuery<Text extends object>(text: Text, query: string | undefined) {
  return query === undefined ? undefined : { ...text, query };
}

/** Returns the searched texts that the caller may name; undefined if the caller may name all. */
function namedFields({ type, scope }: WordsContext): ReadonlySet<string> | undefined {
  const { fields } = searchOf(scope.registry, type.uid);
  if (fields.every(({ path }) => path.length === 0)) return undefined;
  return new Set(fields.filter(({ path }) => mayTraverse(type, path, scope)).map(({ name }) => name));
}

function mayTraverse(type: ContentType, path: readonly string[], scope: QueryScope): boolean {
  let model = queryModelOf(scope.registry, type.uid);
  for (const name of path) {
    const step = lookUp(model, name, scope);
    if (step === undefined || step === 'hidden' || step.kind === 'scalar' || step.kind === 'zone')
      return false;
    model = queryModelOf(scope.registry, step.target);
  }
  return true;
}

/** Returns a list plan with the search, facets and highlights of `words`. */
export function withWords<List extends { readonly search: SearchRequest }>(
  list: List,
  words: PlannedWords | undefined,
): List & { readonly words?: WordsPlan } {
  if (words === undefined) return list;
  const { plan, text, groups, ties, conditions } = words;
  const facets = plan.facets.map(({ request }) => request);
  const search: SearchRequest = {
    ...list.search,
    ...(conditions.length === 0 ? {} : { query: allOf([list.search.query, ...conditions]) }),
    ...defined({ text, groups, sort: ties }),
    ...(facets.length === 0 ? {} : { facets }),
  };
  return { ...list, search, words: plan };
}
