import { z } from 'zod';
import { SCALAR_TYPES, type ScalarType } from './content-type.ts';

/**
 * Shape of Strapi 5's schema.json and component files. Unknown keys are accepted and dropped, as in Strapi, because plugins and the admin
 * panel store their own there. Options that an attribute's type does not have are dropped too.
 */

/** All attribute types of Strapi 5. */
export const ATTRIBUTE_TYPES = [
  ...SCALAR_TYPES,
  'media',
  'relation',
  'component',
  'dynamiczone',
  'customField',
] as const;

export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

const flag = z.boolean().optional();
const count = z.int().min(0).optional();
const number = z.number().optional();
const uid = z.string().min(1);
/** Accepts a 64-bit integer. JSON numbers must be exact. */
const bigInteger = z
  .union([z.int(), z.string().regex(/^-?\d+$/)], {
    error: 'expected an integer or its decimal digits as text',
  })
  .optional();

const pluginOptions = z
  .looseObject({ i18n: z.object({ localized: flag }).optional(), varve: z.json().optional() })
  .optional();

const common = z.object({
  type: z.enum(ATTRIBUTE_TYPES),
  required: flag,
  unique: flag,
  private: flag,
  configurable: flag,
  searchable: flag,
  conditions: z.looseObject({ visible: z.json().optional() }).optional(),
  pluginOptions,
});

const scalar = common.extend({ default: z.json().optional() });
const text = scalar.extend({ minLength: count, maxLength: count, regex: z.string().optional() });
const numeric = scalar.extend({ min: number, max: number });
const range = { min: count, max: count };

const media = common.extend({ multiple: flag, allowedTypes: z.array(z.string()).optional() });
const relation = common.extend({
  relation: z.string(),
  target: uid.optional(),
  inversedBy: z.string().min(1).optional(),
  mappedBy: z.string().min(1).optional(),
});
const component = common.extend({ component: uid, repeatable: flag, ...range });
const dynamicZone = common.extend({ components: z.array(uid), ...range });
const customField = common.extend({ customField: z.string().min(1) });

const SCALARS = {
  string: text,
  text,
  richtext: text,
  blocks: scalar,
  email: text,
  password: text,
  uid: text.extend({ targetField: z.string().optional() }),
  enumeration: scalar.extend({
    enum: z.array(z.string().min(1)).min(1, 'an enumeration has at least one value'),
  }),
  integer: scalar.extend({ min: z.int().optional(), max: z.int().optional() }),
  biginteger: scalar.extend({ min: bigInteger, max: bigInteger }),
  decimal: numeric,
  float: numeric,
  boolean: scalar,
  date: scalar,
  time: scalar,
  datetime: scalar,
  json: scalar,
} as const satisfies Record<ScalarType, z.ZodType>;

/** Options of an attribute of each type. */
export const ATTRIBUTE_SCHEMAS = {
  ...SCALARS,
  media,
  relation,
  component,
  dynamiczone: dynamicZone,
  customField,
};

export type RawCommon = z.output<typeof common>;
export type RawMedia = z.output<typeof media>;
export type RawRelation = z.output<typeof relation>;
export type RawComponent = z.output<typeof component>;
export type RawDynamicZone = z.output<typeof dynamicZone>;
export type RawCustomField = z.output<typeof customField>;

/** Options of all scalar types together. ATTRIBUTE_SCHEMAS says which of them a type has. */
export type RawScalar = RawCommon & {
  readonly default?: unknown;
  readonly min?: number | string | undefined;
  readonly max?: number | string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly regex?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly targetField?: string | undefined;
};

/** Attributes are parsed one by one, so that an invalid one does not hide problems of the others. */
const attributes = z.record(z.string(), z.unknown());

/** Strapi's rule for names that become URLs: lower-case words joined by single hyphens. */
const kebabCase = z
  .string()
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'expected kebab-case, such as "opening-hour"');

export const CONTENT_TYPE_SCHEMA = z.object({
  kind: z.enum(['collectionType', 'singleType']).default('collectionType'),
  collectionName: z.string().optional(),
  info: z.object({
    singularName: kebabCase,
    pluralName: kebabCase,
    displayName: z.string().optional(),
    description: z.string().optional(),
  }),
  options: z
    .looseObject({ draftAndPublish: flag, privateAttributes: z.array(z.string()).optional() })
    .optional(),
  pluginOptions,
  attributes,
});

export const COMPONENT_SCHEMA = z.object({
  collectionName: z.string().optional(),
  info: z.object({ displayName: z.string().optional() }).optional(),
  options: z.object({ privateAttributes: z.array(z.string()).optional() }).optional(),
  attributes,
});
