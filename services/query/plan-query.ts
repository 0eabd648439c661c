import { defined } from '../../shared/defined.ts';
import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import type { SearchRequest, World } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { allOf } from './combine-queries.ts';
import { type CursorScope, cursorScope, readCursor } from './cursor.ts';
import { type PopulateAction, resolveDefaultPopulate } from './default-populate.ts';
import { resolveExplain } from './explain.ts';
import { resolveFields } from './fields.ts';
import { type LocaleChoice, localeQuery, refuseLocaleList, resolveLocale } from './locale.ts';
import {
  type PageRules,
  type Pagination,
  refuseFarOffset,
  refuseRootPages,
  resolvePagination,
} from './pagination.ts';
import { type ParsedFilter, parseFilter } from './parse-filter.ts';
import { planFilter } from './plan-filter.ts';
import { asksForWords, planWords, withWords } from './plan-words.ts';
import { resolvePopulate } from './populate.ts';
import { invalidKey, isFoundFirst, type Problems, refuseIfAny, refuseOtherNames } from './problems.ts';
import { refusePublicationFilter, resolvePublicationFilter } from './publication-filter.ts';
import { type QueryScope, queryModelOf } from './query-model.ts';
import { parseQueryString, type QueryObject } from './query-string.ts';
import { AS_OF, LEVELS_PARAMETER, LIST_PARAMETERS, READ_PARAMETERS } from './root-parameters.ts';
import { resolveSearchText } from './search-text.ts';
import type { Selection } from './selection.ts';
import { resolveSort } from './sort.ts';
import { resolveStatus } from './status.ts';
import { resolveUsersPagination } from './users-pagination.ts';
import type { WordsPlan } from './words-meta.ts';

/** A read request: its path, and its query string without `?`. */
export type QueryRequest = {
  readonly registry: SchemaRegistry;
  readonly type: ContentType;
  readonly queryString: string;
  readonly defaultLocale: string;
} & CallerRules &
  RequestRules;

/** Restrictions of a query by the caller's rights. */
export type CallerRules = {
  /**
   * Returns false for a content type that the caller may not `find`: a name that reaches it is refused like an unknown key. Absent: the
   * caller may find all types.
   */
  readonly mayFind?: (type: string) => boolean;
  /** False for callers that may not see drafts: names about drafts are refused like an unknown key. Absent = true. */
  readonly mayReadDrafts?: boolean;
  /** True for callers that may see how a query is answered (`explain=true`). */
  readonly mayExplain?: boolean;
};

/** Request settings of an installation. */
export type RequestRules = PageRules & {
  /** Called for each unknown root parameter that is ignored. Absent: such a request is refused. */
  readonly ignoreParameter?: (name: string) => void;
  /** Treats a wrong `status` as draft, and a wrong `locale` as the default locale. */
  readonly lenientDocuments?: boolean;
  /** Accepts `populate=deep` and `pLevel`, which Strapi refuses without a plugin. */
  readonly populateDeep?: boolean;
  /** Operators that search text ignore case, as in a Strapi on SQLite. */
  readonly containsIgnoresCase?: boolean;
  /** Signs cursors. Absent: there are no cursors. */
  readonly cursorKey?: Uint8Array;
};

/** Search of the read index for a page, and the parts of the rows to show. */
export type ListPlan = {
  readonly type: ContentType;
  readonly search: SearchRequest;
  readonly selection: Selection;
  readonly pagination: Pagination;
  /** Present for a walk by cursor. */
  readonly cursors?: CursorScope;
  /** Facets and highlights to show with the rows. */
  readonly words?: WordsPlan;
  /** Filter of the request, if the answer has `meta.explain`. */
  readonly explain?: { readonly filters: ParsedFilter | null };
};

/** Search of the read index for one document, and the parts of it to show. `answerEntry` adds the document itself. */
export type EntryPlan = {
  readonly type: ContentType;
  readonly world: World;
  readonly locale: LocaleChoice;
  /** Conditions in addition to documentId. */
  readonly query: BoolQuery;
  readonly selection: Selection;
};

/** Exceptions of a dialect from the rules for query strings. */
type Dialect = {
  readonly users?: boolean;
  /** True for writes: conditions on rows have no effect. */
  readonly ignoreFilters?: boolean;
  /** True for one entry: a condition on its locale does not replace the requested locale. */
  readonly oneEntry?: boolean;
  /** True for a document in one locale: a list of locales is refused. */
  readonly oneLocale?: boolean;
  /** Action whose default populate applies. */
  readonly action?: PopulateAction;
  /** Refuses a body, before problems of values in the query string. */
  readonly checkBody?: () => void;
  /** True: problems of values are not reported. */
  readonly namesOnly?: boolean;
};

/** Plans `GET /api/<plural>`. Throws RequestError (400) naming everything that is wrong. */
export function planList(request: QueryRequest): ListPlan {
  const query = parseQueryString(request.queryString);
  const problems: Problems = [];
  refuseOtherNames(query, parametersOf(LIST_PARAMETERS, request), problems, request.ignoreParameter);
  const plan = planRows(request, query, problems, { action: 'find' });
  const pagination = resolvePagination(query, problems, request);
  const explained = resolveExplain(query['explain'], request.mayExplain === true, problems);
  const words = asksForWords(query)
    ? planWords(query, { ...request, ...plan, scope: scopeOf(request), withRules: true, problems })
    : undefined;
  if (words?.groups !== undefined) refuseCursorOfGroups(pagination, problems);
  refuseIfAny(problems);
  const list = withWords(listPlan(request.type, plan, pagination), words);
  const explain = explained ? { explain: { filters: parseFilter(query['filters'], 'filters') } } : {};
  return { ...list, ...planCursor(request, list), ...explain };
}

function parametersOf(names: readonly string[], { populateDeep }: QueryRequest): readonly string[] {
  return populateDeep === true ? [...names, LEVELS_PARAMETER] : names;
}

function scopeOf({ registry, mayFind, mayReadDrafts = true, containsIgnoresCase }: QueryRequest): QueryScope {
  return {
    registry,
    mayReadDrafts,
    containsIgnoresCase: containsIgnoresCase === true,
    ...defined({ mayFind }),
  };
}

function refuseCursorOfGroups({ cursor }: Pagination, problems: Problems): void {
  if (cursor === undefined) return;
  problems.push({
    phase: 'own',
    message: 'A list with distinct has no cursors',
    param: 'distinct',
    found: 'pagination[cursor]',
    accepted: 'pagination[page] and pagination[pageSize]',
  });
}

/** Continues a walk by cursor. */
function planCursor(
  { cursorKey }: QueryRequest,
  { search, pagination }: ListPlan,
): Partial<Pick<ListPlan, 'search' | 'cursors'>> {
  if (pagination.cursor === undefined) return {};
  if (cursorKey === undefined) throw new RequestError('invalid-cursor', 'There are no cursors here');
  const cursors = cursorScope(cursorKey, search);
  const after = pagination.cursor === '' ? null : readCursor(cursors, pagination.cursor);
  return { search: { ...search, cursor: { after } }, cursors };
}

/** Plans `GET /api/<plural>/<documentId>` (SEMANTICS section 12). Well-formed pages have no effect. */
export function planEntry(request: QueryRequest): EntryPlan {
  return planOne(request, {
    oneEntry: true,
    oneLocale: request.type.localized,
    action: request.type.kind === 'singleType' ? 'find' : 'findOne',
  });
}

/** Plans the query string of `DELETE`, which selects the rows to delete. */
export function planRemoval(request: QueryRequest): EntryPlan {
  return planOne(request, { oneEntry: true });
}

/** Refuses unknown names in the query string of a `DELETE` without an entry. Strapi looks at nothing else. */
export function refuseRemovalNames(request: QueryRequest): void {
  planOne(request, { namesOnly: true });
}

/**
 * Plans the query string of `POST` or `PUT`: the version and locale to write, and the parts of the entry to answer. Filters are ignored
 * (SEMANTICS section 13). `checkBody` refuses a body, which Strapi does after unknown names in the query string.
 */
export function planWrite(request: QueryRequest, checkBody?: () => void): EntryPlan {
  return planOne(request, { ignoreFilters: true, ...defined({ checkBody }) });
}

/**
 * Plans `GET /api/users` in Strapi's own dialect (SEMANTICS section 11). Unknown parameters and `pagination` have no effect. Root `start`
 * and `limit` apply; without them all rows are answered. `page` and `pageSize` are only checked. `GET /api/upload/files` uses the same
 * dialect.
 */
export function planUsersList(request: QueryRequest): ListPlan {
  const query = parseQueryString(request.queryString);
  const problems: Problems = [];
  const plan = planRows(request, query, problems, { users: true });
  const pagination = resolveUsersPagination(query, problems);
  refuseFarOffset(pagination.start, pagination.start, problems, request.maxOffset);
  refuseIfAny(problems);
  return listPlan(request.type, plan, pagination);
}

/** Plans `GET /api/users/<id>` in that dialect. */
export function planUsersEntry(request: QueryRequest): EntryPlan {
  return planOne(request, { users: true });
}

function planOne(request: QueryRequest, dialect: Dialect): EntryPlan {
  const query = parseQueryString(request.queryString);
  const problems: Problems = [];
  if (dialect.users) resolveUsersPagination(query, problems);
  else {
    refuseOtherNames(query, parametersOf(READ_PARAMETERS, request), problems, request.ignoreParameter);
    refuseRootPages(query, problems);
  }
  const { world, locale, query: wanted, selection } = planRows(request, query, problems, dialect);
  refuseIfAny(dialect.namesOnly ? problems.filter(isFoundFirst) : problems, dialect.checkBody);
  return { type: request.type, world, locale, query: wanted, selection };
}

/** Plans everything that a query string says about rows and the parts to show, except for pages. */
function planRows(request: QueryRequest, query: QueryObject, problems: Problems, dialect: Dialect) {
  const { type, registry, defaultLocale, mayReadDrafts = true, lenientDocuments: lenient = false } = request;
  const scope = scopeOf(request);
  refuseAsOf(query, problems);
  const model = queryModelOf(registry, type.uid);
  const filter = planFilter(query['filters'], 'filters', model, { scope, param: 'filters', problems });
  const world = dialect.users
    ? 'published'
    : resolveStatus(query['status'], problems, { mayReadDrafts, lenient });
  const sortContext = { scope, param: 'sort', problems, throughRelations: true, world };
  const sort = resolveSort(query['sort'], model, sortContext);
  const fields = resolveFields(query['fields'], model, { scope, param: 'fields', problems });
  const publication = dialect.users
    ? refusePublicationFilter(query, problems)
    : resolvePublicationFilter(query, problems, { world, mayReadDrafts });
  const skipRole = dialect.users === true;
  const deep = request.populateDeep === true;
  const levels = deep ? query[LEVELS_PARAMETER] : undefined;
  const shared = { scope, param: 'populate', problems, world, publication, skipRole, deep };
  const populateContext = { ...shared, ...defined({ levels }) };
  const populate =
    query['populate'] === undefined && levels === undefined && dialect.action !== undefined
      ? resolveDefaultPopulate(type, dialect.action, populateContext)
      : resolvePopulate(query['populate'], model, populateContext);
  const locale: LocaleChoice = dialect.users
    ? { kind: 'default' }
    : resolveLocale(query['locale'], problems, lenient);
  if (dialect.oneLocale === true) refuseLocaleList(query['locale'], problems);
  const search = resolveSearchText(query['_q'], model, problems);
  const published = type.draftAndPublish && publication !== null ? publication : MATCH_ALL;
  const filters = dialect.ignoreFilters ? undefined : query['filters'];
  const inLocale = localeQuery(locale, type, dialect.oneEntry ? undefined : filters, defaultLocale);
  const wanted = dialect.ignoreFilters ? [inLocale] : [inLocale, published, filter, search];
  return { world, locale, query: allOf(wanted), sort, selection: { fields, populate } };
}

/** Refuses `asOf` where unknown names are ignored: an answer about the present would look like one about the past. */
function refuseAsOf(query: QueryObject, problems: Problems): void {
  if (query[AS_OF] === undefined || problems.some(({ key }) => key === AS_OF)) return;
  problems.push(invalidKey(AS_OF, null, AS_OF, READ_PARAMETERS));
}

function listPlan(type: ContentType, plan: ReturnType<typeof planRows>, pagination: Pagination): ListPlan {
  const search: SearchRequest = {
    type: type.uid,
    world: plan.world,
    query: plan.query,
    sort: plan.sort,
    from: pagination.start,
    size: pagination.limit,
    withTotal: pagination.withCount,
  };
  return { type, search, selection: plan.selection, pagination };
}
