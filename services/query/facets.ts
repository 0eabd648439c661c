import { commaList } from '../../shared/comma-list.ts';
import { defined } from '../../shared/defined.ts';
import { columnValue, fieldTypeOf } from '../../shared/read-index/column.ts';
import { isCountable } from '../../shared/read-index/facet-values.ts';
import type { FacetRange, FacetRequest } from '../../shared/read-index/facets.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope, queryModelOf } from './query-model.ts';
import { isQueryList, isQueryObject, MOST_NAMES, type QueryObject, type QueryValue } from './query-string.ts';

/** A facet by its name in the request, and the request to the index. */
export type FacetPlan = { readonly name: string; readonly request: FacetRequest };

export type FacetContext = { readonly scope: QueryScope; readonly problems: Problems };

const MAX_FACETS = 20;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_RANGES = 50;
const MAX_SEARCH = 100;
const OPTIONS = ['limit', 'ranges', 'search'];
const RANGE = /^([^.]*(?:\.\d[^.]*)?)\.\.(.*)$/;

type Asked = { readonly name: string; readonly at: string; readonly options: QueryObject };

/** Resolves `facets=city.name,stars`, a list of such texts, or `facets[city.name][limit]=10` into the facets to count. */
export function resolveFacets(
  value: QueryValue | undefined,
  model: QueryModel,
  context: FacetContext,
): readonly FacetPlan[] {
  if (value === undefined || value === null || value === '') return [];
  const asked = askedFacets(value, 'facets', context);
  if (asked.length > MAX_FACETS)
    refuse(context, 'facets', `${asked.length} facets`, `at most ${MAX_FACETS} facets`);
  const unique = [...new Map(asked.map((each) => [each.name, each])).values()];
  return unique.slice(0, MAX_FACETS).flatMap((each) => resolveFacet(each, model, context) ?? []);
}

function askedFacets(value: QueryValue, at: string, context: FacetContext): readonly Asked[] {
  if (typeof value === 'string') return commaList(value).map((name) => ({ name, at, options: {} }));
  if (isQueryList(value)) return value.flatMap((each, i) => askedFacets(each, `${at}[${i}]`, context));
  if (!isQueryObject(value)) {
    refuse(context, at, value, 'names of attributes');
    return [];
  }
  return Object.entries(value).map(([name, options = null]) => {
    const place = `${at}[${name}]`;
    if (isQueryObject(options)) return { name, at: place, options };
    if (options !== null && options !== '') refuse(context, place, options, OPTIONS);
    return { name, at: place, options: {} };
  });
}

function resolveFacet(
  { name, at, options }: Asked,
  root: QueryModel,
  context: FacetContext,
): FacetPlan | undefined {
  const names = name.split('.');
  if (names.length > MOST_NAMES) {
    refuse(context, at, name, `a path of at most ${MOST_NAMES - 1} relations and components`);
    return undefined;
  }
  const target = resolvePath({ names, at }, root, context);
  if (target === undefined) return undefined;
  for (const option of Object.keys(options)) {
    if (!OPTIONS.includes(option))
      context.problems.push({ ...invalidKey(option, name, 'facets', OPTIONS), at: `${at}[${option}]` });
  }
  const { limit, search, ranges } = options;
  const found = resolveRanges(ranges, target.type, `${at}[ranges]`, context);
  const text = resolveSearch(search, `${at}[search]`, context);
  return {
    name,
    request: {
      ...target,
      limit: resolveLimit(limit, `${at}[limit]`, context),
      ...defined({ search: text, ranges: found }),
    },
  };
}

type Target = { readonly path: readonly string[]; readonly field: string; readonly type: ScalarType };

/** Resolves a path. Private, forbidden and unknown names get the same refusal. */
function resolvePath(
  { names, at }: { readonly names: readonly string[]; readonly at: string },
  root: QueryModel,
  { scope, problems }: FacetContext,
): Target | undefined {
  let model = root;
  for (const [index, name] of names.entries()) {
    const attribute = lookUp(model, name, scope);
    const isLast = index === names.length - 1;
    if (attribute !== undefined && attribute !== 'hidden') {
      if (isLast && attribute.kind === 'scalar' && isCountable(attribute.type))
        return { path: names.slice(0, -1), field: name, type: attribute.type };
      if (!isLast && (attribute.kind === 'relation' || attribute.kind === 'component')) {
        model = queryModelOf(scope.registry, attribute.target);
        continue;
      }
    }
    const above = index === 0 ? null : names.slice(0, index).join('.');
    problems.push({ ...invalidKey(name, above, 'facets', countableNames(model, scope)), at });
    return undefined;
  }
  return undefined;
}

function countableNames(model: QueryModel, scope: QueryScope): readonly string[] {
  return acceptedNames(model, scope, ['scalar', 'relation', 'component']).filter((name) => {
    const attribute = model.attributes.get(name);
    return attribute?.kind !== 'scalar' || isCountable(attribute.type);
  });
}

function resolveLimit(value: QueryValue | undefined, at: string, context: FacetContext): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const limit = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  refuse(context, at, value, `a whole number from 1 to ${MAX_LIMIT}`);
  return DEFAULT_LIMIT;
}

function resolveSearch(value: QueryValue | undefined, at: string, context: FacetContext): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= MAX_SEARCH) return value;
  refuse(context, at, value, `text of at most ${MAX_SEARCH} characters`);
  return undefined;
}

/** Resolves `0..10,10..20,20..`: each range begins at the first number and ends before the second. */
function resolveRanges(
  value: QueryValue | undefined,
  type: ScalarType,
  at: string,
  context: FacetContext,
): readonly FacetRange[] | undefined {
  if (value === undefined) return undefined;
  const accepted = `up to ${MAX_RANGES} ranges such as 0..10,10..20,20..`;
  if (!['number', 'instant'].includes(fieldTypeOf(type))) {
    refuse(context, at, value, 'ranges of a number or a date');
    return undefined;
  }
  const names = typeof value === 'string' ? value.split(',') : [];
  const ranges = names.map((name) => parseRange(name.trim(), type));
  if (ranges.length > 0 && ranges.length <= MAX_RANGES && ranges.every((range) => range !== undefined))
    return ranges;
  refuse(context, at, value, accepted);
  return undefined;
}

function parseRange(name: string, type: ScalarType): FacetRange | undefined {
  const [, from, to] = RANGE.exec(name) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const [low, high] = [parseBound(from, type), parseBound(to, type)];
  if (Number.isNaN(low) || Number.isNaN(high)) return undefined;
  return { name, ...defined({ from: low, to: high }) };
}

/** Returns undefined if the range is open on this side, and NaN if the text is neither a number nor a date. */
function parseBound(text: string, type: ScalarType): number | undefined {
  if (text === '') return undefined;
  return Number(columnValue(type, text));
}

function refuse({ problems }: FacetContext, at: string, found: unknown, accepted: unknown): void {
  const expected = typeof accepted === 'string' ? accepted : String(accepted);
  problems.push({
    phase: 'parameter',
    param: 'facets',
    at,
    found,
    accepted,
    message: `Invalid parameter at '${at}'. Expected ${expected}`,
  });
}
