import { assertNever } from '../../shared/assert-never.ts';
import { defined } from '../../shared/defined.ts';
import type { Attribute, Component, ContentType, Model } from '../../shared/schema/content-type.ts';
import { zoneUnion } from './answer-schemas.ts';
import {
  anyOfSchemas,
  closedSchema,
  listSchema,
  modelRef,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';
import { scalarInputSchema } from './scalar-schemas.ts';

/** Schema of a write: any attributes of the entry, nothing else. */
export function inputSchema(scope: OpenApiScope, type: ContentType): JsonSchema {
  return closedSchema(inputProperties(scope, type));
}

/** Returns the names of attributes that a published entry must have; empty if there are none. */
export function requiredNames(type: ContentType): readonly string[] {
  return [...type.attributes.values()]
    .filter((attribute) => attribute.required && attribute.kind !== 'relation' && !hasDefault(attribute))
    .map((attribute) => attribute.name);
}

/** Schema of a component in a request body. */
export function componentInputSchema(scope: OpenApiScope, component: Component): JsonSchema {
  return closedSchema(componentProperties(scope, component));
}

/** Schema of a component in a dynamic zone of a request body: it names its kind. */
export function zoneInputSchema(scope: OpenApiScope, component: Component): JsonSchema {
  const properties = { __component: { const: component.uid }, ...componentProperties(scope, component) };
  return closedSchema(properties, ['__component']);
}

/** Schemas that inputs of every type share. */
export const RELATION_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  'relation.reference': anyOfSchemas(
    { type: 'string', description: 'A documentId.' },
    { type: 'integer', description: "A row's numeric id." },
    objectSchema({
      documentId: TEXT_SCHEMA,
      id: { type: ['integer', 'string'] },
      locale: { type: ['string', 'null'] },
      position: {
        ...objectSchema({
          start: { type: 'boolean' },
          end: { type: 'boolean' },
          before: { type: ['string', 'integer'] },
          after: { type: ['string', 'integer'] },
        }),
        description: 'Position among the existing targets, for `connect`.',
      },
    }),
  ),
  'relation.input': anyOfSchemas(
    { type: 'null', description: 'Removes every link.' },
    schemaRef('relation.reference'),
    {
      ...listSchema(schemaRef('relation.reference')),
      description: 'Replaces all links by these, in this order.',
    },
    {
      ...objectSchema({
        connect: referencesSchema(),
        disconnect: referencesSchema(),
        set: referencesSchema(),
      }),
      description: '`set` wins over `connect` and `disconnect`.',
      additionalProperties: true,
    },
  ),
};

function referencesSchema(): JsonSchema {
  const reference = schemaRef('relation.reference');
  return anyOfSchemas(reference, listSchema(reference), { type: 'null' });
}

function inputProperties(scope: OpenApiScope, model: Model): Record<string, JsonSchema> {
  return Object.fromEntries(
    [...model.attributes.values()].map((attribute) => [attribute.name, attributeSchema(scope, attribute)]),
  );
}

function componentProperties(scope: OpenApiScope, component: Component): Record<string, JsonSchema> {
  const id = {
    type: ['integer', 'string'],
    description: 'Id of an existing component; without it, a new one is created.',
  };
  return { id, ...inputProperties(scope, component) };
}

function attributeSchema(scope: OpenApiScope, attribute: Attribute): JsonSchema {
  switch (attribute.kind) {
    case 'scalar':
      return scalarInputSchema(attribute);
    case 'relation':
      return schemaRef('relation.input');
    case 'component': {
      const item = modelRef(scope, attribute.component, 'Input');
      if (attribute.repeatable) return { ...listSchema(item), ...counts(attribute) };
      return anyOfSchemas(item, { type: 'null' });
    }
    case 'dynamiczone':
      return { ...listSchema(zoneUnion(scope, attribute.components, 'ZoneInput')), ...counts(attribute) };
    default:
      return assertNever(attribute);
  }
}

/** Limits of a list's length. A list that is not required may be empty despite `min`, so only `max` always applies. */
function counts({ min, max, required }: { min?: number; max?: number; required: boolean }): JsonSchema {
  return {
    ...(min !== undefined && required ? { minItems: min } : {}),
    ...defined({ maxItems: max }),
  };
}

function hasDefault(attribute: Attribute): boolean {
  return attribute.kind === 'scalar' && attribute.default !== undefined;
}
