import type { ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaProblem } from '../../shared/schema/schema-problem.ts';
import { schemaProblem } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { resolvePopulate } from './populate.ts';
import type { PopulateRequest } from './populate-options.ts';
import type { Problems } from './problems.ts';
import { queryModelOf } from './query-model.ts';
import type { QueryObject, QueryValue } from './query-string.ts';
import type { PopulateNode } from './selection.ts';

/** Actions of Strapi's routes for which a schema can give a `populate`. A single type has only `find`. */
const ACTIONS = ['find', 'findOne'] as const;
export type PopulateAction = (typeof ACTIONS)[number];

/**
 * Resolves `pluginOptions.varve.defaultPopulate` of a type for a request without `populate`. Omits names that the caller may not see: the
 * request did not ask for them.
 */
export function resolveDefaultPopulate(
  type: ContentType,
  action: PopulateAction,
  context: PopulateRequest,
): readonly PopulateNode[] {
  const value = defaultPopulateOf(type, action);
  if (value === undefined) return [];
  const model = queryModelOf(context.scope.registry, type.uid);
  return resolvePopulate(value, model, { ...context, deep: true, problems: [] });
}

/** Returns the problems of the default populates of all types, in the words of a refused request. */
export function checkDefaultPopulates(registry: SchemaRegistry): readonly SchemaProblem[] {
  return [...registry.contentTypes.values()].flatMap((type) => {
    const model = queryModelOf(registry, type.uid);
    return ACTIONS.flatMap((action) => {
      const problems: Problems = [];
      const scope = { registry };
      const context = {
        scope,
        param: 'populate',
        problems,
        deep: true,
        ...({ world: 'published', publication: null } as const),
      };
      resolvePopulate(defaultPopulateOf(type, action), model, context);
      const path = ['pluginOptions', 'varve', 'defaultPopulate', action];
      return problems.map(({ message }) => schemaProblem(type.uid, path, message));
    });
  });
}

function defaultPopulateOf({ varve }: ContentType, action: PopulateAction): QueryValue | undefined {
  const given = (varve as { defaultPopulate?: unknown } | undefined)?.defaultPopulate;
  if (typeof given !== 'object' || given === null) return undefined;
  const value = (given as { readonly [action: string]: unknown })[action];
  return value === undefined ? undefined : asQueryValue(value);
}

/** Converts JSON to the form that the query string parser returns: texts in lists and objects. */
function asQueryValue(json: unknown): QueryValue {
  if (json === null || typeof json === 'string') return json;
  if (Array.isArray(json)) return json.map(asQueryValue);
  if (typeof json !== 'object') return String(json);
  const entries = Object.entries(json).map(([name, value]) => [name, asQueryValue(value)]);
  return Object.fromEntries(entries) as QueryObject;
}
