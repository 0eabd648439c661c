import type { Attribute, Model } from '../../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

type Json = Readonly<Record<string, unknown>>;

/** The request header that asks for Strapi 4's form of entries, and its value. */
export const V4_HEADER = 'strapi-response-format';
export const V4_FORMAT = 'v4';

/**
 * Converts an answer `{data, meta}` with entries of `model` to Strapi 4's form (case http-018). `attributes` contains everything but id and
 * documentId. `data` contains populated relations and media. Parses the whole answer.
 */
export function presentInV4(registry: SchemaRegistry, model: Model, answer: Uint8Array): Uint8Array {
  const { data, ...others } = JSON.parse(Buffer.from(answer).toString()) as Json;
  return Buffer.from(
    JSON.stringify({ data: each(data, (entry) => presentEntry(registry, model, entry)), ...others }),
  );
}

function presentEntry(registry: SchemaRegistry, model: Model, { id, documentId, ...values }: Json): Json {
  return { id, documentId, attributes: presentValues(registry, model, values) };
}

function presentValues(registry: SchemaRegistry, model: Model, values: Json): Json {
  const shown = Object.entries(values).map(([name, value]) => {
    const attribute = name === 'localizations' ? 'localizations' : model.attributes.get(name);
    return [name, attribute === undefined ? value : presentValue(registry, model, attribute, value)];
  });
  return Object.fromEntries(shown);
}

function presentValue(
  registry: SchemaRegistry,
  model: Model,
  attribute: Attribute | 'localizations',
  value: unknown,
): unknown {
  if (attribute === 'localizations')
    return { data: each(value, (entry) => presentEntry(registry, model, entry)) };
  switch (attribute.kind) {
    case 'scalar':
      return value;
    case 'relation': {
      const target = contentTypeOf(registry, attribute.target);
      return { data: each(value, (entry) => presentEntry(registry, target, entry)) };
    }
    case 'component':
      return each(value, (one) => presentValues(registry, componentOf(registry, attribute.component), one));
    case 'dynamiczone':
      return each(value, (one) =>
        presentValues(registry, componentOf(registry, String(one['__component'])), one),
      );
  }
}

/** Presents each value of a list, or one value, or null. */
function each(value: unknown, present: (one: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((one) => present(one as Json));
  return value === null || value === undefined ? value : present(value as Json);
}
