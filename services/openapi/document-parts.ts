import { defined } from '../../shared/defined.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type {
  Example,
  JsonSchema,
  OpenApiScope,
  Parameter,
  Reference,
  RouteOperation,
} from './openapi-types.ts';
import { nameOf } from './schema-names.ts';

/** `#/components/schemas/<name>` */
export function schemaRef(name: string): Reference {
  return { $ref: `#/components/schemas/${name}` };
}

/** Reference to a model's schema: that of answers, or its part such as `Filters`. */
export function modelRef({ names }: OpenApiScope, uid: Uid, part?: string): Reference {
  const name = nameOf(names, uid);
  return schemaRef(part === undefined ? name : `${name}.${part}`);
}

/** Schema of a value that satisfies one of these, or several. */
export function anyOfSchemas(...schemas: readonly JsonSchema[]): JsonSchema {
  return { anyOf: schemas };
}

export const TEXT_SCHEMA: JsonSchema = { type: 'string' };

/** Schema of a list. */
export function listSchema(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** Schema of an object in which the members of `required` are always there. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** Schema of an object without any other members. */
export function closedSchema(...members: Parameters<typeof objectSchema>): JsonSchema {
  return { ...objectSchema(...members), additionalProperties: false };
}

/** Schema of `{"data": …, "meta": {…}}`. */
export function envelopeSchema(data: JsonSchema, meta: JsonSchema = { type: 'object' }): JsonSchema {
  return objectSchema({ data, meta }, ['data', 'meta']);
}

type Shape = {
  readonly style?: 'deepObject' | 'form';
  readonly examples?: Readonly<Record<string, Example>>;
};

/** Parameter of the query string. */
export function queryParameter(
  name: string,
  description: string,
  schema: JsonSchema = TEXT_SCHEMA,
  { style, examples }: Shape = {},
): Parameter {
  const form = style === undefined ? {} : { style, explode: true };
  return { name, in: 'query', description, ...form, schema, ...defined({ examples }) };
}

/** Parameter of the path. */
export function pathParameter(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'path', required: true, description, schema };
}

/** Header of a request. */
export function headerParameter(
  name: string,
  description: string,
  schema: JsonSchema = TEXT_SCHEMA,
): Parameter {
  return { name, in: 'header', description, schema };
}

/** Returns the operation with these parameters after its own. */
export function withParameters<Operation extends RouteOperation>(
  operation: Operation,
  ...parameters: readonly Parameter[]
): Operation {
  return { ...operation, parameters: [...(operation.parameters ?? []), ...parameters] };
}

/** Required body of a request. */
export function jsonBody(schema: JsonSchema, example?: unknown): object {
  return { required: true, content: { 'application/json': { schema, ...defined({ example }) } } };
}
