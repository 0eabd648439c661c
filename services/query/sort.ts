import { commaList } from '../../shared/comma-list.ts';
import { PUBLICATION_STATE_FIELD } from '../../shared/read-index/bool-query.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import type { SortKey, World } from '../../shared/read-index/read-index.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { readPoint } from './geo-operators.ts';
import { invalidKey, type Problems, type QueryProblem, sortByPass } from './problems.ts';
import {
  acceptedNames,
  lookUp,
  type QueryModel,
  type QueryScalar,
  type QueryScope,
  queryModelOf,
} from './query-model.ts';
import { isQueryList, isQueryObject, type QueryValue } from './query-string.ts';

export type SortContext = {
  readonly scope: QueryScope;
  readonly param: string;
  readonly problems: Problems;
  /** False inside `populate`, where only the populated row's own attributes sort (SEMANTICS section 9). */
  readonly throughRelations: boolean;
  /**
   * World of the rows. In the published world every row counts as published: `sort=status` orders only drafts, and reveals nothing about
   * drafts to callers that may not see them.
   */
  readonly world: World;
};

/** Steps through relations and components that all keys of one sort may take together. */
const MAX_STEPS = 20;

/** Maximum entries of a list. */
const MAX_KEYS = 100;

type SortItem = {
  readonly path: readonly string[];
  /** undefined: a text without an order sorts ascending. null: an object without an order sorts nothing. */
  readonly order: string | null | undefined;
  readonly at: string;
  /** Form of the order in an object: a text, an empty text, or no `=`. */
  readonly given: 'text' | 'empty' | 'nothing';
  /** Number of names before this one in the same object. */
  readonly before: number;
};

/** Resolves every form of `sort` (text, list, object, list of objects; dotted paths) into sort keys (SEMANTICS section 7). */
export function resolveSort(
  value: QueryValue | undefined,
  model: QueryModel,
  context: SortContext,
): readonly SortKey[] {
  if (value === undefined || value === null) return [];
  const keys = new Map<string, SortKey>();
  const { problems } = context;
  const first = problems.length;
  const items = parseSort(value, model, context);
  if (items.some(({ given }) => given === 'text')) refuseMissingOrders(items, context);
  for (const item of items) {
    const key = resolveItem(item, model, context);
    if (key === null) continue;
    // An attribute of the row itself counts once, whatever the direction: rows that are equal by it are also equal in
    // the other direction.
    const name = nameOf(key);
    if (!keys.has(name)) keys.set(name, key);
    else if ('nearest' in key) refuseItem(context, 'Invalid sort: more than one place', item, 'one place');
  }
  refuseLongWays([...keys.values()], value, context);
  sortByPass(problems, first);
  return [...keys.values()];
}

function nameOf(key: SortKey): string {
  if ('nearest' in key) return '';
  return [...key.path, key.field, key.path.length === 0 ? '' : key.direction].join(' ');
}

function refuseLongWays(keys: readonly SortKey[], value: QueryValue, context: SortContext): void {
  const steps = keys.reduce((sum, { path }) => sum + path.length, 0);
  if (steps <= MAX_STEPS) return;
  const message = `Invalid sort parameter: its keys take ${steps} steps through relations, at most ${MAX_STEPS} are possible`;
  const accepted = `at most ${MAX_STEPS} steps through relations`;
  refuse(context, { message, found: value, accepted, at: context.param });
}

const NO_ORDER = 'Invalid sort type expected object or string got object';

/** Refuses names without `=` next to others that have an order. */
function refuseMissingOrders(items: readonly SortItem[], context: SortContext): void {
  for (const { at, given } of items) {
    if (given === 'nothing') refuse(context, { message: NO_ORDER, found: null, accepted: 'asc or desc', at });
  }
}

function parseSort(value: QueryValue, model: QueryModel, context: SortContext): readonly SortItem[] {
  if (value === null) return [];
  if (typeof value === 'string') return parseText(value, model, context);
  if (isQueryObject(value)) return inTurn(parseObject(value, [], context.param, context));
  const isMixed = value.some(isQueryObject) && value.some((item) => typeof item === 'string');
  // Strapi reads such a list as an object with the names 0, 1, …
  if (isMixed || value.length > MAX_KEYS)
    return [{ path: ['0'], order: undefined, at: context.param, given: 'text', before: 0 }];
  const items = value.flatMap((item, index) => {
    if (!isQueryList(item)) return parseSort(item, model, context);
    return refuse(context, {
      message: 'Invalid sort parameter',
      found: item,
      accepted: 'key:asc, or an object',
      at: `${context.param}[${index}]`,
    });
  });
  // Strapi does not look at a list without any order.
  return items.some(({ given }) => given === 'text') ? items : [];
}

/** Counts the names that Strapi reads before each item of an object. */
function inTurn(items: readonly SortItem[]): readonly SortItem[] {
  let before = 0;
  return items.map((item) => {
    before += item.path.length;
    return { ...item, before: before - item.path.length };
  });
}

function parseText(text: string, model: QueryModel, context: SortContext): readonly SortItem[] {
  const items = commaList(text).map((part): SortItem => {
    const [path, order] = splitPart(part, model, context);
    return { path, order, at: context.param, given: 'text', before: 0 };
  });
  return items.filter(({ path }) => path.join('') !== '');
}

/**
 * Path and order of one key. Behind a relation or component Strapi takes `:` for `.`, skips empty names, and finds the order by its word:
 * `chef:name:`, `chef..name` and `chef.name.asc` are `chef.name:asc`.
 */
function splitPart(
  part: string,
  model: QueryModel,
  context: SortContext,
): readonly [readonly string[], string | undefined] {
  const [first = '', ...rest] = part.split(/[.:]/);
  const attribute = lookUp(model, first, context.scope);
  if (typeof attribute !== 'object' || (attribute.kind !== 'relation' && attribute.kind !== 'component')) {
    const [path = '', order] = part.split(':');
    return [path.split('.'), order?.trim()];
  }
  const words = rest.map((word) => word.trimStart()).filter((word) => word !== '');
  const at = words.findIndex((word, index) => index > 0 && directionOf(word) !== undefined);
  if (at === -1) return [[first, ...words], undefined];
  const more = words.slice(at).filter((word) => directionOf(word) === undefined);
  return [[first, ...words.slice(0, at)], [words[at], ...more].join('.')];
}

function parseObject(
  value: QueryValue & object,
  path: readonly string[],
  at: string,
  context: SortContext,
): readonly SortItem[] {
  return Object.entries(value).flatMap(([name, inner = null]) => {
    // In an object, a name with a dot is a single name, which no attribute has.
    const [here, below] = [[...path, name], `${at}[${name}]`];
    if (isQueryObject(inner)) return parseObject(inner, here, below, context);
    if (isQueryList(inner)) {
      return refuse(context, { message: NO_ORDER, found: inner, accepted: 'asc or desc', at: below });
    }
    const order = inner?.trim() || null;
    const given = inner === null ? 'nothing' : inner === '' ? 'empty' : 'text';
    return [{ path: here, order, at: below, given, before: 0 }];
  });
}

function resolveItem(item: SortItem, root: QueryModel, context: SortContext): SortKey | null {
  const [first = ''] = item.path;
  // Strapi has its own message for names that Object.prototype has.
  if (first in Object.prototype && !root.attributes.has(first)) {
    return refuseItem(context, 'Invalid sort query', item, acceptedNames(root, context.scope, ['scalar']));
  }
  const direction = directionOf(item.order ?? 'asc');
  if (direction !== undefined && context.scope.mayReadDrafts !== false && isPublicationStatus(item, root)) {
    return context.world === 'draft' ? { path: [], field: PUBLICATION_STATE_FIELD, direction } : null;
  }
  const columns = context.throughRelations && item.path.length === 1 && root.geo.get(first);
  if (columns) return resolvePlace(item, columns, context);
  const target = resolvePath(item, root, context);
  if (target === null || item.order === null) return null;
  if (direction !== undefined) return { ...target, direction };
  const message = 'Invalid order. order can only be one of asc|desc|ASC|DESC';
  return refuseItem(context, message, { ...item, path: [item.order ?? ''] }, ['asc', 'desc']);
}

/** Returns the direction that a word names in any case; undefined for other words. */
function directionOf(word: string): SortKey['direction'] | undefined {
  const direction = word.toLowerCase();
  return direction === 'asc' || direction === 'desc' ? direction : undefined;
}

/** `sort=status:desc`: the direction is required, as in Strapi. */
function isPublicationStatus(item: SortItem, model: QueryModel): boolean {
  return (
    item.path.length === 1 &&
    item.path[0] === 'status' &&
    (item.order ?? null) !== null &&
    model.type?.draftAndPublish === true &&
    !model.attributes.has('status')
  );
}

/** Resolves `sort[location]=52.52,13.4`. */
function resolvePlace(item: SortItem, columns: GeoColumns, context: SortContext): SortKey | null {
  const from = readPoint(item.order ?? '');
  if (from !== undefined) return { path: [], nearest: { columns, from, step: 1 }, direction: 'asc' };
  const accepted = `${context.param}[${item.path[0]}]=lat,lng such as 52.52,13.4`;
  return refuseItem(context, `Invalid sort at ${item.path[0]}: needs a point`, item, accepted);
}

type SortTarget = { readonly path: readonly string[]; readonly field: string };

function resolvePath(item: SortItem, root: QueryModel, context: SortContext): SortTarget | null {
  let model = root;
  for (const [index, name] of item.path.entries()) {
    const attribute = lookUp(model, name, context.scope);
    if (typeof attribute !== 'object' || attribute.kind === 'zone') {
      const pass = typeof attribute === 'object' ? 'zone' : (attribute ?? 'unknown');
      // `sort=chef.`: a relation without an attribute behind it.
      const key = name === '' ? (item.path[index - 1] ?? '') : name;
      return refuseKey(context, item, { key, model, index, pass });
    }
    if (attribute.kind === 'scalar') return resolveColumn(item, index, attribute, context);
    if (index === item.path.length - 1) {
      return refuseKey(context, item, { key: item.order ?? name, model, index, pass: 'empty' });
    }
    if (!context.throughRelations) {
      const message = `Invalid sort at ${item.path.join('.')}: only own attributes sort here`;
      return refuseItem(context, message, item, acceptedNames(model, context.scope, ['scalar']));
    }
    model = queryModelOf(context.scope.registry, attribute.target);
  }
  return null;
}

/** Resolves the last name of a sort path. JSON has an order only in PostgreSQL, and a scalar has no attributes. */
function resolveColumn(
  item: SortItem,
  index: number,
  column: QueryScalar,
  context: SortContext,
): SortTarget | null {
  const isJson = fieldTypeOf(column.type) === 'json';
  if (index === item.path.length - 1 && !isJson) {
    return { path: item.path.slice(0, index), field: column.name };
  }
  const reason = isJson ? `is a ${column.type} attribute` : 'has no attributes';
  const message = `Invalid sort at ${item.path.join('.')}: ${column.name} ${reason}`;
  return refuseItem(context, message, item, 'a sortable attribute');
}

/** A name that `model` does not have, or that does not sort. `index`: in the path of its item. */
type UnknownKey = {
  readonly key: string;
  readonly model: QueryModel;
  readonly index: number;
  readonly pass: NonNullable<QueryProblem['pass']>;
};

function refuseKey(context: SortContext, item: SortItem, { key, model, index, pass }: UnknownKey): null {
  const path = item.path.slice(0, pass === 'unknown' ? index : index + 1).join('.');
  const names = acceptedNames(model, context.scope, ['scalar', 'relation', 'component']);
  const accepted = index === 0 && context.throughRelations ? [...names, ...model.geo.keys()] : names;
  const problem = invalidKey(key, path, context.param, accepted);
  context.problems.push({ ...problem, pass, step: item.before + index, at: item.at });
  return null;
}

function refuseItem(context: SortContext, message: string, item: SortItem, accepted: unknown): null {
  refuse(context, { message, found: item.path.join('.'), accepted, at: item.at });
  return null;
}

type Refusal = Pick<QueryProblem, 'message' | 'found' | 'accepted'> & { readonly at: string };

function refuse(context: SortContext, { message, found, accepted, at }: Refusal): [] {
  context.problems.push({ phase: 'form', message, param: context.param, at, found, accepted });
  return [];
}
