import { mayFind, mayReadDrafts, type Rights, rightsKey } from '../../shared/access/rights.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type ContentType, FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { routeNameOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { digestText } from '../../shared/text-digest.ts';
import { hasLocaleForm } from '../query/locale.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString, type QueryObject, type QueryValue } from '../query/query-string.ts';
import { resolveStatus } from '../query/status.ts';

/** Documents whose changes a caller requests and may see. */
export type FeedSelection = {
  /** Content types with the attributes that the caller may see. */
  readonly types: ReadonlyMap<Uid, ContentType>;
  /** All types that the caller may find. */
  readonly visible: ReadonlyMap<Uid, ContentType>;
  /** undefined: all. */
  readonly locales: ReadonlySet<string> | undefined;
  readonly statuses: ReadonlySet<World>;
  /** True: also selects documents that are linked with changed ones. */
  readonly related: boolean;
  /** Changes or documents of a page. */
  readonly limit: number;
  /** Names everything above but the limit, and the caller's rights. */
  readonly name: string;
};

export type ChangesRequest = { readonly selection: FeedSelection; readonly since: string | undefined };

/** A caller, and the content types as that caller sees them. */
export type FeedCaller = {
  readonly rights: Rights;
  readonly registry: SchemaRegistry;
  /** Header of the request; another process may have to answer it. */
  readonly authorization: string | undefined;
};

const PARAMETERS = ['since', 'types', 'locales', 'status', 'related', 'limit'];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/**
 * Parses the query string of the change feed. Throws RequestError: 403 for a caller that may find nothing, 400 that names everything that
 * is wrong. A type that does not exist and one that the caller may not find are refused alike.
 */
export function parseChangesRequest(caller: FeedCaller, queryString: string): ChangesRequest {
  const { rights } = caller;
  const visible = typesOf(caller);
  if (visible.length === 0) throw new RequestError('forbidden', 'Forbidden');
  const query = parseQueryString(queryString);
  const problems: Problems = [];
  refuseOtherNames(query, PARAMETERS, problems);
  const types = chooseTypes(namesIn(query, 'types', problems), visible, problems);
  const locales = localesIn(query, problems);
  const statuses = chooseStatuses(query, mayReadDrafts(rights), problems);
  const related = flagOf(query['related'], problems);
  const limit = limitOf(query['limit'], problems);
  const since = query['since'];
  if (since !== undefined && typeof since !== 'string') refuse(problems, 'since', since, 'a sync token');
  refuseIfAny(problems);
  const chosen = { types: types.map(({ uid }) => uid).sort(), locales: locales?.toSorted() ?? '*' };
  const name = digestText(JSON.stringify([rightsKey(rights), chosen, [...statuses].sort(), related]));
  return {
    since: since === '' ? undefined : (since as string | undefined),
    selection: {
      types: byUid(types),
      visible: byUid(visible),
      locales: locales && new Set(locales),
      statuses,
      related,
      limit,
      name,
    },
  };
}

function byUid(types: readonly ContentType[]): ReadonlyMap<Uid, ContentType> {
  return new Map(types.map((type) => [type.uid, type]));
}

/** Returns the types that the caller may find. Users are in no feed, because they are accounts and not content. */
function typesOf({ rights, registry }: FeedCaller): readonly ContentType[] {
  const types = [...registry.contentTypes.values()];
  return types.filter(({ uid, builtIn }) => (!builtIn || uid === FILE_TYPE) && mayFind(rights, uid));
}

function chooseTypes(
  names: readonly string[] | undefined,
  visible: readonly ContentType[],
  problems: Problems,
): readonly ContentType[] {
  if (names === undefined) return visible;
  return names.flatMap((name) => {
    const found = visible.find((type) => type.uid === name || routeNameOf(type) === name);
    if (found === undefined) refuse(problems, 'types', name, visible.map(({ uid }) => uid).sort());
    return found ?? [];
  });
}

function chooseStatuses(query: QueryObject, mayReadDrafts: boolean, problems: Problems): ReadonlySet<World> {
  const names = namesIn(query, 'status', problems) ?? [undefined];
  return new Set(names.map((name) => resolveStatus(name, problems, { mayReadDrafts, lenient: false })));
}

/** Returns names that are separated by commas or in a list; undefined if the parameter is absent. */
function namesIn(query: QueryObject, param: string, problems: Problems): readonly string[] | undefined {
  const value = query[param];
  if (value === undefined) return undefined;
  const parts = (Array.isArray(value) ? value : [value]) as readonly QueryValue[];
  const names = parts.flatMap((part) => (typeof part === 'string' ? part.split(',') : ['']));
  if (names.every((name) => name.trim() !== '')) return [...new Set(names.map((name) => name.trim()))];
  refuse(problems, param, value, 'names separated by commas');
  return undefined;
}

/** Refuses `*`. It means all locales in other endpoints, and here it would name a locale that no row has. */
function localesIn(query: QueryObject, problems: Problems): readonly string[] | undefined {
  const names = namesIn(query, 'locales', problems);
  for (const name of names ?? [])
    if (!hasLocaleForm(name))
      refuse(problems, 'locales', name, 'locales such as en or en-US, or no parameter for all');
  return names;
}

function flagOf(value: QueryValue | undefined, problems: Problems): boolean {
  if (value === undefined || value === 'false') return false;
  if (value !== 'true') refuse(problems, 'related', value, ['true', 'false']);
  return true;
}

function limitOf(value: QueryValue | undefined, problems: Problems): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const limit = typeof value === 'string' && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : 0;
  if (limit < 1 || limit > MAX_LIMIT) refuse(problems, 'limit', value, `an integer from 1 to ${MAX_LIMIT}`);
  return limit;
}

function refuse(problems: Problems, param: string, found: QueryValue, accepted: unknown): void {
  const message = `Invalid parameter at '${param}'`;
  problems.push({ phase: 'parameter', message, param, found, accepted });
}
