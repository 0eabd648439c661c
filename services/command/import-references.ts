import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { Attribute, Model } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Returns the documentId for a reference `type:key`; throws if the import has no such document. */
export type ResolveReference = (reference: string) => string;

/** Returns `data` with `{documentId}` for every `{"$ref": "type:key"}` of a relation, also inside components. */
export function resolveReferences(
  registry: SchemaRegistry,
  model: Model,
  data: { readonly [key: string]: unknown },
  resolve: ResolveReference,
): { readonly [key: string]: unknown } {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data)) {
    const attribute = model.attributes.get(name);
    resolved[name] =
      attribute === undefined || attribute.kind === 'scalar' || value === null
        ? value
        : resolveValue(registry, attribute, value, resolve);
  }
  return resolved;
}

function resolveValue(
  registry: SchemaRegistry,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  value: unknown,
  resolve: ResolveReference,
): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveValue(registry, attribute, item, resolve));
  if (!isRecord(value)) return value;
  switch (attribute.kind) {
    case 'relation':
      return typeof value['$ref'] === 'string' ? { documentId: resolve(value['$ref']) } : value;
    case 'component':
      return resolveReferences(registry, componentOf(registry, attribute.component), value, resolve);
    case 'dynamiczone': {
      const component = registry.components.get(plainText(value['__component']));
      return component === undefined ? value : resolveReferences(registry, component, value, resolve);
    }
  }
}
