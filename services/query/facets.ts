import { defined } from '../../shared/defined.ts';
import { columnValue, fieldTypeOf } from '../../shared/read-index/column.ts';
import { isCountable } from '../../shared/read-index/facet-values.ts';
import type { FacetRange, FacetRequest } from '../../shared/read-index/facets.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import {
  type NamedAttribute,
  namedAttributes,
  refuseValue,
  resolveCount,
  resolveText,
} from './own-parameters.ts';
import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope, queryModelOf } from './query-model.ts';
import { MOST_NAMES, type QueryValue } from './query-string.ts';

/** A facet by its name in the request, and the request to the index. */
export type FacetPlan = { readonly name: string; readonly request: FacetRequest };

export type FacetContext = { readonly scope: QueryScope; readonly problems: Problems };

const MAX_FACETS = 20;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_RANGES = 50;
const MAX_SEARCH = 100;
const OPTIONS = ['limit', 'order', 'ranges', 'search'];
const RANGE = /^([^.]*(?:\.\d[^.]*)?)\.\.(.*)$/;

/** Resolves `facets=city.name,stars`, a list of such texts, or `facets[city.name][limit]=10` into the facets to count. */
export function resolveFacets(
  value: QueryValue | undefined,
  model: QueryModel,
  context: FacetContext,
): readonly FacetPlan[] {
  if (value === undefined || value === null || value === '') return [];
  const { problems } = context;
  const asked = namedAttributes(value, 'facets', OPTIONS, { param: 'facets', problems });
  if (asked.length > MAX_FACETS)
    refuse(context, 'facets', `${asked.length} facets`, `at most ${MAX_FACETS} facets`);
  const unique = [...new Map(asked.map((each) => [each.name, each])).values()];
  return unique.slice(0, MAX_FACETS).flatMap((each) => resolveFacet(each, model, context) ?? []);
}

function resolveFacet(
  { name, at, options }: NamedAttribute,
  root: QueryModel,
  context: FacetContext,
): FacetPlan | undefined {
  const names = name.split('.');
  if (names.length > MOST_NAMES) {
    return refuse(context, at, name, `a path of at most ${MOST_NAMES - 1} relations and components`);
  }
  const target = resolvePath({ names, at }, root, context);
  if (target === undefined) return undefined;
  for (const option of Object.keys(options)) {
    if (!OPTIONS.includes(option))
      context.problems.push({ ...invalidKey(option, name, 'facets', OPTIONS), at: `${at}[${option}]` });
  }
  const place = (option: string) => ({ param: 'facets', at: `${at}[${option}]`, problems: context.problems });
  const ranges = resolveRanges(options['ranges'], target.type, `${at}[ranges]`, context);
  const search = resolveText(options['search'], MAX_SEARCH, place('search')) || undefined;
  const limit = resolveCount(options['limit'], MAX_LIMIT, place('limit')) ?? DEFAULT_LIMIT;
  const byName = resolveOrder(options['order'], place('order'));
  return { name, request: { ...target, limit, ...defined({ byName, search, ranges }) } };
}

/** Returns true for the order by name. */
function resolveOrder(
  value: QueryValue | undefined,
  place: Parameters<typeof refuseValue>[0],
): true | undefined {
  if (value === undefined || value === 'count') return undefined;
  return value === 'name' ? true : refuseValue(place, value, 'count or name');
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
    return refuse(context, at, value, 'ranges of a number or a date');
  }
  const names = typeof value === 'string' ? value.split(',') : [];
  const ranges = names.map((name) => parseRange(name.trim(), type));
  if (ranges.length > 0 && ranges.length <= MAX_RANGES && ranges.every((range) => range !== undefined))
    return ranges;
  return refuse(context, at, value, accepted);
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

function refuse({ problems }: FacetContext, at: string, found: unknown, accepted: string): undefined {
  refuseValue({ param: 'facets', at, problems }, found, accepted);
}
