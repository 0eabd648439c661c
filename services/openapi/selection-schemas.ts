import type { Uid } from '../../shared/schema/content-type.ts';
import { type QueryAttribute, type QueryModel, queryModelOf } from '../query/query-model.ts';
import { anyOfSchemas, type JsonSchema, type OpenApiScope, schemaRef } from './openapi-types.ts';
import { nameOf } from './schema-names.ts';

/** Names of attributes of these kinds. */
export function namesOf(model: QueryModel, ...kinds: readonly QueryAttribute['kind'][]): readonly string[] {
  return [...model.attributes.values()].filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
}

/** The object form of `populate`; undefined where nothing can be populated. */
export function populateSchema(scope: OpenApiScope, model: QueryModel): JsonSchema | undefined {
  const links = linksOf(model);
  if (links.length === 0) return undefined;
  return {
    type: 'object',
    properties: Object.fromEntries(links.map((link) => [link.name, optionsSchema(scope, link)])),
    additionalProperties: false,
  };
}

function linksOf(model: QueryModel): readonly QueryAttribute[] {
  return [...model.attributes.values()].filter(({ kind }) => kind !== 'scalar');
}

function optionsSchema(scope: OpenApiScope, attribute: QueryAttribute): JsonSchema {
  if (attribute.kind === 'scalar') throw new Error(`${attribute.name} cannot be populated`);
  if (attribute.kind !== 'zone')
    return anyOfSchemas({ type: 'boolean' }, insideSchema(scope, attribute.target));
  const on = attribute.components.map((uid) => [
    uid,
    anyOfSchemas({ type: 'boolean' }, insideSchema(scope, uid)),
  ]);
  return anyOfSchemas(
    { type: 'boolean' },
    {
      type: 'object',
      properties: { on: { type: 'object', properties: Object.fromEntries(on), additionalProperties: false } },
      required: ['on'],
      description: 'Only components of the listed kinds.',
    },
    { type: 'object', properties: { populate: { const: '*' } }, required: ['populate'] },
  );
}

/** `fields`, `sort`, `filters`, `populate` and `count` of the rows that are populated. */
function insideSchema(scope: OpenApiScope, uid: Uid): JsonSchema {
  const model = queryModelOf(scope.registry, uid);
  const name = nameOf(scope.names, uid);
  const nested = linksOf(model).length === 0 ? [] : [schemaRef(`${name}.Populate`)];
  const texts = anyOfSchemas({ type: 'string' }, { type: 'array', items: { type: 'string' } });
  return {
    type: 'object',
    properties: {
      fields: texts,
      sort: texts,
      filters: schemaRef(`${name}.Filters`),
      ...(nested.length === 0 ? {} : { populate: anyOfSchemas(texts, ...nested) }),
      count: { type: 'boolean', description: 'Only the number of entries.' },
    },
    additionalProperties: false,
  };
}
