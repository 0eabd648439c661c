import { assertNever } from '../../shared/assert-never.ts';
import { defined } from '../../shared/defined.ts';
import type { ScalarAttribute, ScalarType } from '../../shared/schema/content-type.ts';
import { listSchema } from './document-parts.ts';
import type { JsonSchema } from './openapi-types.ts';

const INT32 = 2 ** 31;
/** varchar(255) in Strapi; text and richtext are unlimited. */
const SHORT_TEXT = 255;
/** A node of the blocks editor; its other members depend on its type. */
const BLOCK: JsonSchema = {
  type: 'object',
  properties: { type: { type: 'string' } },
  required: ['type'],
  additionalProperties: true,
};
const TIME_PATTERN = '^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?$';

/** Schema of an attribute's value in an answer; drafts need only satisfy its type (SEMANTICS section 13). */
export function scalarAnswerSchema(attribute: ScalarAttribute): JsonSchema {
  if (attribute.type === 'json') return { description: 'Any JSON value.' };
  return nullable(typeSchema(attribute));
}

/** Schema of an attribute's value in a write; `null` clears it. */
export function scalarInputSchema(attribute: ScalarAttribute): JsonSchema {
  const description = inputDescription(attribute);
  const described = description === '' ? {} : { description };
  const secret = attribute.private ? { writeOnly: true } : {};
  const schema = nullable({ ...typeSchema(attribute), ...limits(attribute) });
  return { ...schema, ...described, ...secret, ...defined({ default: attribute.default }) };
}

/** Schema of a value that may be null. A schema without a type has any value. */
function nullable({ enum: values, ...schema }: JsonSchema): JsonSchema {
  if (schema['type'] === undefined) return schema;
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

/** Type and format, without the rules of writes. */
function typeSchema(attribute: ScalarAttribute): JsonSchema {
  const { type } = attribute;
  return type === 'enumeration' ? { type: 'string', enum: attribute.enum ?? [] } : TYPE_SCHEMAS[type];
}

const TYPE_SCHEMAS: Record<Exclude<ScalarType, 'enumeration'>, JsonSchema> = {
  string: { type: 'string' },
  text: { type: 'string' },
  richtext: { type: 'string' },
  email: { type: 'string' },
  uid: { type: 'string' },
  password: { type: 'string', format: 'password' },
  integer: { type: 'integer', format: 'int32' },
  biginteger: { type: 'string', pattern: '^-?\\d{1,19}$' },
  decimal: { type: 'number' },
  float: { type: 'number', format: 'double' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', pattern: TIME_PATTERN },
  datetime: { type: 'string', format: 'date-time' },
  blocks: listSchema(BLOCK),
  json: {},
};

function limits(attribute: ScalarAttribute): JsonSchema {
  const { type, min, max, minLength, maxLength, regex } = attribute;
  switch (type) {
    case 'integer':
      return { minimum: min ?? -INT32, maximum: max ?? INT32 - 1 };
    case 'decimal':
    case 'float':
      return defined({ minimum: min, maximum: max });
    case 'string':
    case 'email':
    case 'uid':
    case 'password':
    case 'text':
    case 'richtext': {
      const longest = maxLength ?? (type === 'text' || type === 'richtext' ? undefined : SHORT_TEXT);
      return {
        ...(type === 'email' ? { format: 'email' } : {}),
        ...defined({ minLength, maxLength: longest }),
        ...defined({ pattern: regex ?? (type === 'uid' ? '^[A-Za-z0-9\\-_.~]*$' : undefined) }),
      };
    }
    case 'enumeration':
    case 'biginteger':
    case 'boolean':
    case 'date':
    case 'time':
    case 'datetime':
    case 'json':
    case 'blocks':
      return {};
    default:
      return assertNever(type);
  }
}

function inputDescription(attribute: ScalarAttribute): string {
  const { type, required, unique, min, max, targetField } = attribute;
  const bounds =
    type === 'biginteger'
      ? [min === undefined ? '' : `At least ${min}.`, max === undefined ? '' : `At most ${max}.`]
      : [];
  return [
    required ? 'Required when published.' : '',
    unique ? 'Unique among published entries.' : '',
    targetField === undefined ? '' : `Made from ${targetField}.`,
    attribute.private ? 'Never answered.' : '',
    ...bounds,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
