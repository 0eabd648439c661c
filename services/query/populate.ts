import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import { booleanOf } from './cast-operand.ts';
import { deepLevels, parameterLevels, populateDeep } from './populate-deep.ts';
import { refuseName, refuseOddNames, resolveNames } from './populate-names.ts';
import {
  LINK_OPTIONS,
  type PopulateContext,
  type PopulateRequest,
  populatableNames,
  populated,
  resolveLinkOptions,
  resolveZoneOptions,
} from './populate-options.ts';
import { lookUp, type QueryLink, type QueryModel, type QueryZone, queryModelOf } from './query-model.ts';
import { isQueryList, isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';
import type { PopulateNode } from './selection.ts';

/** Maximum entries of a list of names. This is Strapi's limit. */
const MAX_ENTRIES = 100;
/** Maximum number of attributes that a request may populate. Their number grows with every dynamic zone in a path. */
const MAX_NODES = 10_000;

/** Resolves `populate` in every form (`*`, names, lists, dotted paths, nested objects; SEMANTICS section 9) into one node per attribute. */
export function resolvePopulate(
  value: QueryValue | undefined,
  model: QueryModel,
  request: PopulateRequest,
): readonly PopulateNode[] {
  const context = { ...request, budget: { left: MAX_NODES }, path: '', resolveInner: resolveValue };
  if (request.levels !== undefined) return populateDeep(parameterLevels(request.levels), model, context);
  const nodes = resolveValue(value, model, context);
  if (context.budget.left < 0) {
    context.problems.push({
      phase: 'own',
      message: `Invalid populate parameter: it populates more than ${MAX_NODES} attributes`,
      param: context.param,
      found: value ?? null,
      accepted: 'fewer levels of dynamic zones',
    });
  }
  return nodes;
}

/**
 * Resolves `populate` at any depth. `context.path` is the position of an object form in the tree. Names in a text or list start a new path,
 * as in Strapi's messages.
 */
function resolveValue(
  value: QueryValue | undefined,
  model: QueryModel,
  context: PopulateContext,
): readonly PopulateNode[] {
  const { path } = context;
  if (value === undefined || value === null) return [];
  if (value === '*') return populateEverything(model, context);
  // `populate[author][populate]=true` populates only the author, as in every Strapi up to 5.49.
  if (value === 'true' && path !== '') return [];
  if (value === '') {
    // At the root an empty name has no effect. Below the root it is an unknown name.
    if (path !== '') refuseName('', path, model, context);
    return [];
  }
  if (isQueryObject(value)) return resolveObject(value, model, context);
  const levels = context.deep === true && path === '' ? deepLevels(value) : undefined;
  if (levels !== undefined && !model.attributes.has('deep')) return populateDeep(levels, model, context);
  const texts = isQueryList(value) ? listedTexts(value, model, context) : [value];
  const nodes = resolveNames(texts, model, context);
  if (path !== '') refuseOddNames(texts, model, context);
  return nodes;
}

/** Populates every attribute that can be populated, for one level. */
function populateEverything(model: QueryModel, context: PopulateContext): readonly PopulateNode[] {
  const names = populatableNames(model, context.scope);
  context.budget.left -= names.length;
  return names.map((name) => populated(model.attributes.get(name) as QueryLink | QueryZone, context));
}

function listedTexts(
  list: readonly QueryValue[],
  model: QueryModel,
  context: PopulateContext,
): readonly string[] {
  if (list.length > MAX_ENTRIES) {
    context.problems.push({
      phase: 'key',
      message: `Too many populate entries (${list.length}). The maximum number of populate entries when using array notation is ${MAX_ENTRIES}. Consider using object notation (populate[field]=true), nested population, or reducing the number of fields.`,
      param: context.param,
      found: list.length,
      accepted: `at most ${MAX_ENTRIES} entries`,
    });
    return [];
  }
  const odd = list.find((item) => typeof item !== 'string');
  if (odd !== undefined) {
    context.problems.push({
      phase: 'form',
      message: 'Invalid populate parameter. Expected a string, an array of strings, a populate object',
      param: context.param,
      found: odd,
      accepted: [...populatableNames(model, context.scope), '*'],
    });
  }
  return list.filter((item) => typeof item === 'string');
}

function resolveObject(
  value: QueryObject,
  model: QueryModel,
  context: PopulateContext,
): readonly PopulateNode[] {
  const { path } = context;
  const nodes: PopulateNode[] = [];
  for (const [name, option = null] of Object.entries(value)) {
    const here = path === '' ? name : `${path}.${name}`;
    if (here === 'role' && context.skipRole) continue;
    const attribute = lookUp(model, name, context.scope);
    if (attribute === undefined || attribute === 'hidden' || attribute.kind === 'scalar') {
      refuseName(name, attribute === undefined ? path : here, model, context);
    } else {
      const node = resolveEntry(option, attribute, model, { ...context, path: here });
      if (node !== null) nodes.push(node);
    }
  }
  return nodes;
}

/** Value of `populate[attribute]`: true or false, or an object of options. */
function resolveEntry(
  option: QueryValue,
  attribute: QueryLink | QueryZone,
  model: QueryModel,
  context: PopulateContext,
): PopulateNode | null {
  const flag = booleanOf(option);
  if (flag !== undefined) return flag ? populated(attribute, context) : null;
  if (attribute.kind === 'zone') return resolveZoneOptions(option, attribute, model, context);
  if (isQueryObject(option)) return resolveLinkOptions(option, attribute, model, context);
  const target = queryModelOf(context.scope.registry, attribute.target);
  // Strapi replaces `*` by the names that the target can populate, as options of the attribute. Without such a name it has no effect.
  const isNothing = option === '*' && attribute.target !== FILE_TYPE;
  if (isNothing && populatableNames(target, context.scope).length === 0) return populated(attribute, context);
  if (isQueryList(option) && !option.some(isName)) {
    context.problems.push({
      phase: 'form',
      message: "Invalid nested populate. Expected '*' or an object",
      param: context.param,
      found: option,
      accepted: LINK_OPTIONS,
    });
    return null;
  }
  const name = entryName(option, target, context);
  // A name that the target has is reported with the whole path, as in Strapi.
  const isKnown = lookUp(target, name, context.scope) !== undefined;
  refuseName(name, isKnown ? `${context.path}.${name}` : context.path, target, context);
  return null;
}

function isName(item: QueryValue): boolean {
  return typeof item === 'string' && booleanOf(item) === undefined;
}

/** Returns the name to report for a value other than true and false. For `*` it is the first attribute that `*` would populate. */
function entryName(option: QueryValue, target: QueryModel, context: PopulateContext): string {
  const text = isQueryList(option) ? option.find(isName) : option;
  if (text === '*') return populatableNames(target, context.scope)[0] ?? '*';
  return typeof text === 'string' ? text : '';
}
