import type { Component, ContentType } from '../../shared/schema/content-type.ts';
import { FILE_TYPE, USER_TYPE } from '../../shared/schema/content-type.ts';
import { queryModelOf } from '../query/query-model.ts';
import {
  answerSchema,
  entryAnswerSchema,
  listAnswerSchema,
  PAGINATION_SCHEMA,
  zoneAnswerSchema,
} from './answer-schemas.ts';
import { CONDITION_SCHEMAS, filtersSchema } from './filter-schemas.ts';
import {
  componentInputSchema,
  inputSchema,
  RELATION_SCHEMAS,
  requiredNames,
  zoneInputSchema,
} from './input-schemas.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';
import { ERROR_SCHEMA } from './responses.ts';
import { nameOf } from './schema-names.ts';
import { populateSchema } from './selection-schemas.ts';
import { userCreateSchema, userInputSchema } from './user-paths.ts';

type Schemas = Record<string, JsonSchema>;

/** `components.schemas`: for each model the schemas of answers, writes, filters and `populate`; then the shared ones. */
export function documentSchemas(scope: OpenApiScope): Readonly<Schemas> {
  const { contentTypes, components } = scope.registry;
  return Object.assign(
    {},
    ...[...contentTypes.values()].map((type) => typeSchemas(scope, type)),
    ...[...components.values()].map((component) => componentSchemas(scope, component)),
    CONDITION_SCHEMAS,
    RELATION_SCHEMAS,
    { pagination: PAGINATION_SCHEMA, error: ERROR_SCHEMA },
  );
}

function typeSchemas(scope: OpenApiScope, type: ContentType): Schemas {
  const name = nameOf(scope.names, type.uid);
  return {
    [name]: answerSchema(scope, type),
    [`${name}.Answer`]: entryAnswerSchema(scope, type),
    ...(type.kind === 'collectionType' ? { [`${name}.List`]: listAnswerSchema(scope, type) } : {}),
    ...writeSchemas(scope, type, name),
    ...querySchemas(scope, type, name),
  };
}

function writeSchemas(scope: OpenApiScope, type: ContentType, name: string): Schemas {
  if (type.uid === FILE_TYPE) return {};
  if (type.uid === USER_TYPE) {
    return {
      [`${name}.Input`]: userInputSchema(scope, type),
      [`${name}.Create`]: userCreateSchema(scope, type),
    };
  }
  const input = inputSchema(scope, type);
  const required = requiredNames(type);
  return {
    [`${name}.Input`]: input,
    ...(required.length > 0 && { [`${name}.Create`]: { ...input, required } }),
  };
}

function querySchemas(scope: OpenApiScope, model: ContentType | Component, name: string): Schemas {
  const query = queryModelOf(scope.registry, model.uid);
  const populate = populateSchema(scope, query);
  return {
    [`${name}.Filters`]: filtersSchema(scope, query),
    ...(populate === undefined ? {} : { [`${name}.Populate`]: populate }),
  };
}

function componentSchemas(scope: OpenApiScope, component: Component): Schemas {
  const name = nameOf(scope.names, component.uid);
  return {
    [name]: answerSchema(scope, component),
    [`${name}.Zone`]: zoneAnswerSchema(scope, component),
    [`${name}.Input`]: componentInputSchema(scope, component),
    [`${name}.ZoneInput`]: zoneInputSchema(scope, component),
    ...querySchemas(scope, component, name),
  };
}
