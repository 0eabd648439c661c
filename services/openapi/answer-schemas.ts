import { assertNever } from '../../shared/assert-never.ts';
import type { Attribute, ContentType, Model, Uid } from '../../shared/schema/content-type.ts';
import { isContentType, queryableScalars } from '../../shared/schema/system-attributes.ts';
import {
  anyOfSchemas,
  envelopeSchema,
  listSchema,
  modelRef,
  objectSchema,
  schemaRef,
} from './document-parts.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';
import { scalarAnswerSchema } from './scalar-schemas.ts';

const COUNT: JsonSchema = {
  ...objectSchema({ count: { type: 'integer' } }, ['count']),
  description: 'With `count=true` in `populate`.',
};

/** Schema of an entry or component in an answer. Only `id` and `documentId` are required: `fields` selects the others. */
export function answerSchema(scope: OpenApiScope, model: Model): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const attribute of queryableScalars(model).values()) {
    properties[attribute.name] = SYSTEM_SCHEMAS.get(attribute.name) ?? scalarAnswerSchema(attribute);
  }
  for (const attribute of model.attributes.values()) {
    const schema = attribute.private ? undefined : linkSchema(scope, attribute);
    if (schema !== undefined) properties[attribute.name] = schema;
  }
  if (!isContentType(model)) return objectSchema(properties, ['id']);
  if (model.localized) {
    const others = rows(modelRef(scope, model.uid), true);
    properties['localizations'] = { description: 'The other locales of the document.', ...others };
  }
  return {
    ...objectSchema(properties, ['id', 'documentId']),
    description: `${model.displayName}: an entry in an answer. Relations, components and media are included if \`populate\` names them.`,
  };
}

/** Schema of a component in a dynamic zone, where `__component` names its kind. */
export function zoneAnswerSchema(scope: OpenApiScope, component: Model & { uid: Uid }): JsonSchema {
  const schema = answerSchema(scope, component);
  const properties = { __component: { const: component.uid }, ...(schema['properties'] as object) };
  return { ...schema, properties, required: ['__component', 'id'] };
}

/** `{"data": {…}, "meta": {}}` */
export function entryAnswerSchema(scope: OpenApiScope, type: ContentType): JsonSchema {
  return envelopeSchema(modelRef(scope, type.uid));
}

/** `{"data": […], "meta": {"pagination": {…}}}` */
export function listAnswerSchema(scope: OpenApiScope, type: ContentType): JsonSchema {
  const meta = objectSchema({ pagination: schemaRef('pagination') }, ['pagination']);
  return envelopeSchema(listSchema(modelRef(scope, type.uid)), meta);
}

/** Schemas of `meta.pagination` in each form, under the name `pagination`. */
export const PAGINATION_SCHEMA: JsonSchema = {
  description: '`pageCount` and `total` are omitted with `pagination[withCount]=false`.',
  anyOf: [
    objectSchema(integers('page', 'pageSize', 'pageCount', 'total'), ['page', 'pageSize']),
    objectSchema(integers('start', 'limit', 'total'), ['start', 'limit']),
    objectSchema({ ...integers('pageSize', 'total'), nextCursor: { type: ['string', 'null'] } }, [
      'pageSize',
      'nextCursor',
    ]),
  ],
};

/** Returns a union with one `oneOf` member per component of a zone, distinguished by `__component`. */
export function zoneUnion(
  scope: OpenApiScope,
  components: readonly Uid[],
  suffix: 'Zone' | 'ZoneInput',
): JsonSchema {
  const refs = components.map((uid) => [uid, modelRef(scope, uid, suffix)] as const);
  return {
    oneOf: refs.map(([, reference]) => reference),
    discriminator: {
      propertyName: '__component',
      mapping: Object.fromEntries(refs.map(([uid, { $ref }]) => [uid, $ref])),
    },
  };
}

function linkSchema(scope: OpenApiScope, attribute: Attribute): JsonSchema | undefined {
  switch (attribute.kind) {
    case 'scalar':
      return undefined;
    case 'relation':
      return rows(modelRef(scope, attribute.target), attribute.toMany);
    case 'component':
      return rows(modelRef(scope, attribute.component), attribute.repeatable);
    case 'dynamiczone':
      return listSchema(zoneUnion(scope, attribute.components, 'Zone'));
    default:
      return assertNever(attribute);
  }
}

function rows(item: JsonSchema, toMany: boolean): JsonSchema {
  return toMany ? anyOfSchemas(listSchema(item), COUNT) : anyOfSchemas(item, { type: 'null' }, COUNT);
}

/** Attributes the server sets; all but `publishedAt` have a value. */
const SYSTEM_SCHEMAS = new Map<string, JsonSchema>([
  [
    'id',
    { type: 'integer', description: 'Id of this version of the entry: another one after each publication.' },
  ],
  ['documentId', { type: 'string', description: 'Id of the document. It never changes.' }],
  ['createdAt', { type: 'string', format: 'date-time' }],
  ['updatedAt', { type: 'string', format: 'date-time' }],
  ['publishedAt', { type: ['string', 'null'], format: 'date-time', description: 'null on drafts.' }],
  ['locale', { type: 'string' }],
]);

function integers(...names: readonly string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, { type: 'integer' }]));
}
