import { defined } from '../../shared/defined.ts';
import type { SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { distinctAttribute } from '../../shared/schema/search-distinct.ts';
import { type SearchSettings, searchOf } from '../../shared/search/search-settings.ts';
import { allOf } from '../query/combine-queries.ts';
import { type LocaleChoice, localeQuery, resolveLocale } from '../query/locale.ts';
import { DEFAULT_MAX_OFFSET } from '../query/pagination.ts';
import type { CallerRules, ListPlan, RequestRules } from '../query/plan-query.ts';
import { planWords, withWords } from '../query/plan-words.ts';
import { type Problems, refuseIfAny } from '../query/problems.ts';
import { type QueryScope, queryModelOf } from '../query/query-model.ts';
import type { QueryObject } from '../query/query-string.ts';
import { resolveSort } from '../query/sort.ts';
import type { WordsPlan } from '../query/words-meta.ts';
import { planAround } from './around.ts';
import { countedFacets } from './counted-facets.ts';
import { boxesQuery } from './geo-boxes.ts';
import { readIndexName } from './index-name.ts';
import type { InstantQuery } from './instant-query.ts';
import { type InstantContext, namedAttribute } from './named-attributes.ts';
import { type HitPlan, planHits } from './plan-hits.ts';
import { resolveInstantFilter } from './resolve-filters.ts';
import { searchedFields } from './searched-fields.ts';

/** Content types and rights of the caller. */
export type InstantScope = {
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  readonly caller: CallerRules;
  readonly rules: RequestRules;
};

/** A query as a request to the read index, and how to show its answer. */
export type InstantPlan = Pick<ListPlan, 'type' | 'search' | 'selection'> & {
  readonly query: InstantQuery;
  readonly words: WordsPlan;
  /** Texts that searches of the type look at, also those of related rows. */
  readonly searched: SearchSettings;
  readonly hits: HitPlan;
  /** Entries of a page, and the last page that can be reached. */
  readonly pageSize: number;
  readonly lastPage: number;
};

/** Plans a query as the list endpoint would. Throws RequestError naming everything that is wrong. */
export function planInstant(query: InstantQuery, instant: InstantScope): InstantPlan {
  const { registry, caller, rules, defaultLocale } = instant;
  const { type, locale, sort } = readIndexName(query.indexName, registry, caller.mayFind);
  const problems: Problems = [];
  const scope = scopeOf(instant);
  const context: InstantContext = { type, model: queryModelOf(registry, type.uid), scope, problems };
  const choice = chooseLocale(locale, problems);
  const pageSize = Math.min(query.window?.length ?? query.hitsPerPage, rules.maxLimit ?? MAX_HITS);
  const search = planRows({ query, choice, sort, pageSize }, instant, context);
  const parameters: QueryObject = {
    // A space after the last word says that the word is complete.
    search: query.hasPrefix ? query.query : `${query.query} `.trimStart(),
    typoTolerance: String(query.typoTolerance),
    facets: countedFacets(query, context),
    distinct: distinctOf(query, context),
  };
  const words = planWords(parameters, {
    ...context,
    defaultLocale,
    locale: choice,
    sort: search.sort,
    withRules: query.withRules,
  });
  const fields = searchedFields(query, context, words.text?.fields);
  const text = words.text && { ...words.text, ...defined({ fields }) };
  const hits = planHits(query, context);
  refuseIfAny(problems);
  const list = withWords({ search }, { ...words, text });
  return {
    query,
    type,
    search: list.search,
    selection: hits.selection,
    words: words.plan,
    searched: searchOf(registry, type.uid),
    hits,
    pageSize,
    lastPage: pageSize === 0 ? 0 : Math.floor((rules.maxOffset ?? DEFAULT_MAX_OFFSET) / pageSize),
  };
}

function scopeOf({
  registry,
  caller: { mayFind },
  rules: { containsIgnoresCase },
}: InstantScope): QueryScope {
  return { registry, mayReadDrafts: false, ...defined({ mayFind, containsIgnoresCase }) };
}

/** Returns the list endpoint's `distinct`: the attribute that the content type names. */
function distinctOf(
  { distinct, facet }: InstantQuery,
  { type, problems }: InstantContext,
): QueryObject | null {
  if (distinct === 0 || facet !== undefined) return null;
  const attribute = distinctAttribute(type);
  if (attribute !== undefined) return { [attribute]: { limit: String(distinct) } };
  const message = "The parameter 'distinct' needs the option distinct of the content type";
  problems.push({ phase: 'own', message, param: 'distinct', found: distinct, accepted: 'false' });
  return null;
}

/** Hits of a page where the installation sets no limit for lists: Strapi's. */
const MAX_HITS = 100;

type Rows = {
  readonly query: InstantQuery;
  readonly choice: LocaleChoice;
  readonly sort: string | undefined;
  readonly pageSize: number;
};

function planRows(
  { query, choice, sort, pageSize }: Rows,
  { defaultLocale, rules }: InstantScope,
  context: InstantContext,
): SearchRequest {
  const { type } = context;
  const filter = resolveInstantFilter(query.filter, context);
  const inLocale = localeQuery(choice, type, undefined, defaultLocale);
  const start = query.window?.offset ?? query.page * pageSize;
  // Pages that cannot be reached are empty, as beyond the last one.
  const named = sortKeys(sort, context);
  const around = planAround(query, named.length > 0, context);
  const isFar = start > (rules.maxOffset ?? DEFAULT_MAX_OFFSET);
  const size = isFar || query.facet !== undefined ? 0 : pageSize;
  return {
    type: type.uid,
    world: 'published',
    query: allOf([inLocale, filter, boxesQuery(query.boxes, context), around.query]),
    // An order by distance takes time, and a query without hits needs none.
    sort: size === 0 ? named : [...named, ...around.sort],
    from: isFar ? 0 : start,
    size,
    withTotal: true,
  };
}

/** `name:asc,city.name:desc`; names first, so that an unknown and a hidden one are refused alike. */
function sortKeys(sort: string | undefined, context: InstantContext): readonly SortKey[] {
  const { model, scope, problems } = context;
  const param = 'indexName';
  const names = (sort ?? '').split(',').map((key) => key.split(':', 1)[0]?.trim() ?? '');
  const known = names.filter((name) => name === '' || namedAttribute(name, param, context));
  if (known.length < names.length) return [];
  return resolveSort(sort, model, { scope, param, problems, throughRelations: true, world: 'published' });
}

/** Returns the locale of the hits. There is only one, because each objectID is a document. */
function chooseLocale(locale: string | undefined, problems: Problems): LocaleChoice {
  if (locale !== '*' && locale !== '') return resolveLocale(locale, problems, false);
  const message = `Invalid locale ${locale} in the name of an index`;
  const accepted = 'one locale such as fr';
  problems.push({ phase: 'parameter', message, param: 'indexName', found: locale, accepted });
  return { kind: 'default' };
}
