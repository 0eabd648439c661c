import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../services/openapi/openapi-types.ts';

/** Compiles schemas of an OpenAPI document into validators of answers. They also refuse attributes that the document does not know. */
export function createAnswerValidators(document: OpenApiDocument): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  ajv.addSchema(closed(document) as object, 'openapi');
  const validators = new Map<string, ValidateFunction>();
  return (schema) => {
    const key = JSON.stringify(schema);
    const validate = validators.get(key) ?? ajv.compile(absolute(closed(schema)) as object);
    validators.set(key, validate);
    return validate;
  };
}

/** Closes the object schemas of a document: they refuse members that they do not name, unless they explicitly allow them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, closed(child)]));
  const isObject = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return isObject ? { ...inner, additionalProperties: false } : inner;
}

function absolute(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/components/', '"openapi#/components/'));
}
