import type { Uid } from '../../shared/schema/content-type.ts';
import { type QueryAttribute, type QueryModel, queryModelOf } from '../query/query-model.ts';
import {
  anyOfSchemas,
  closedSchema,
  listSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';
import { nameOf } from './schema-names.ts';

/** Names of attributes of these kinds. */
export function namesOf(model: QueryModel, ...kinds: readonly QueryAttribute['kind'][]): readonly string[] {
  return [...model.attributes.values()].filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
}

/** Schema of the object form of `populate`; undefined if nothing can be populated. */
export function populateSchema(scope: OpenApiScope, model: QueryModel): JsonSchema | undefined {
  const links = linksOf(model);
  if (links.length === 0) return undefined;
  return closedSchema(Object.fromEntries(links.map((link) => [link.name, optionsSchema(scope, link)])));
}

type QueryLink = Exclude<QueryAttribute, { readonly kind: 'scalar' }>;

function linksOf(model: QueryModel): readonly QueryLink[] {
  return [...model.attributes.values()].filter((attribute) => attribute.kind !== 'scalar');
}

function optionsSchema(scope: OpenApiScope, attribute: QueryLink): JsonSchema {
  const populated = (uid: Uid) => anyOfSchemas({ type: 'boolean' }, insideSchema(scope, uid));
  if (attribute.kind !== 'zone') return populated(attribute.target);
  const on = closedSchema(Object.fromEntries(attribute.components.map((uid) => [uid, populated(uid)])));
  return anyOfSchemas(
    { type: 'boolean' },
    { ...objectSchema({ on }, ['on']), description: 'Only components of the listed kinds.' },
    objectSchema({ populate: { const: '*' } }, ['populate']),
  );
}

/** `fields`, `sort`, `filters`, `populate` and `count` of the rows that are populated. */
function insideSchema(scope: OpenApiScope, uid: Uid): JsonSchema {
  const model = queryModelOf(scope.registry, uid);
  const name = nameOf(scope.names, uid);
  const texts = anyOfSchemas(TEXT_SCHEMA, listSchema(TEXT_SCHEMA));
  const populate = anyOfSchemas(texts, schemaRef(`${name}.Populate`));
  return closedSchema({
    fields: texts,
    sort: texts,
    filters: schemaRef(`${name}.Filters`),
    ...(linksOf(model).length > 0 && { populate }),
    count: { type: 'boolean', description: 'Only the number of entries.' },
  });
}
