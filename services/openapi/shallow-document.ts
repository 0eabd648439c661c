import type { JsonSchema, OpenApiDocument } from './openapi-types.ts';

const LEADS_ON = /^#\/components\/schemas\/((?!Component\.)[A-Z]\w*|.+\.(Filters|Populate))$/;
const ENVELOPE = /\.(Answer|List)$/;

/**
 * Document for readers that resolve every `$ref` before they show anything, as swagger-ui does: cyclic content types keep it busy for
 * minutes. In a schema, a reference to another type becomes an object with that name.
 */
export function shallowDocument(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [
    name,
    ENVELOPE.test(name) ? schema : cut(schema),
  ]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

function cut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cut);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...others } = value as JsonSchema;
  const [, name] = LEADS_ON.exec(typeof $ref === 'string' ? $ref : '') ?? [];
  const kept = Object.fromEntries(Object.entries(others).map(([key, inner]) => [key, cut(inner)]));
  if (name !== undefined) return { type: 'object', title: name, ...kept };
  return typeof $ref === 'string' ? { ...kept, $ref } : kept;
}
