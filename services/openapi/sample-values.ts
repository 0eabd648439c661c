import { assertNever } from '../../shared/assert-never.ts';
import type { Attribute, ContentType, Model, ScalarAttribute } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

/** Values for examples that a server accepts and answers. undefined if there is none (a regex, a relation). */

const DATE = '2026-01-31';
const INSTANT = `${DATE}T12:30:00.000Z`;
/** Texts to try, in this order, for an attribute with a regex. */
const TEXTS = [
  'Example',
  'example',
  'EXAMPLE',
  'example-1',
  'ABC',
  'AB',
  'abc',
  'A1',
  'a1',
  '1',
  '123',
  '12345',
  '+49123456789',
  'https://example.com',
];

/** Returns the data of a write that publishes an entry; undefined if a required attribute has no sample. */
export function sampleInput(
  registry: SchemaRegistry,
  model: Model,
): Readonly<Record<string, unknown>> | undefined {
  const data: Record<string, unknown> = {};
  for (const attribute of model.attributes.values()) {
    const value = sampleOf(registry, attribute);
    if (value !== undefined) data[attribute.name] = value;
    else if (attribute.required && attribute.kind !== 'relation') return undefined;
  }
  return data;
}

/** An entry as it is answered without `populate`. */
export function sampleAnswer(type: ContentType): Readonly<Record<string, unknown>> {
  const values = [...queryableScalars(type).values()].map((attribute) => [
    attribute.name,
    SYSTEM_VALUES.get(attribute.name) ?? sampleScalar(attribute) ?? null,
  ]);
  return Object.fromEntries(values);
}

const SYSTEM_VALUES = new Map<string, unknown>([
  ['id', 1],
  ['documentId', 'a1b2c3d4e5f6g7h8i9j0k1l2'],
  ['createdAt', INSTANT],
  ['updatedAt', INSTANT],
  ['publishedAt', INSTANT],
  ['locale', 'en'],
]);

function sampleOf(registry: SchemaRegistry, attribute: Attribute): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return sampleScalar(attribute);
    case 'relation':
      return undefined;
    case 'component': {
      const item = sampleInput(registry, componentOf(registry, attribute.component));
      if (item === undefined || !attribute.repeatable) return item;
      return Array.from({ length: Math.max(1, attribute.min ?? 1) }, () => item);
    }
    case 'dynamiczone': {
      const [uid] = attribute.components;
      const item = uid === undefined ? undefined : sampleInput(registry, componentOf(registry, uid));
      if (item === undefined) return attribute.required ? undefined : [];
      return Array.from({ length: Math.max(1, attribute.min ?? 1) }, () => ({ __component: uid, ...item }));
    }
    default:
      return assertNever(attribute);
  }
}

function sampleScalar(attribute: ScalarAttribute): unknown {
  const { type, default: value } = attribute;
  if (value !== undefined) return value;
  switch (type) {
    case 'string':
    case 'text':
    case 'richtext':
    case 'uid':
    case 'password':
      return sampleText(attribute);
    case 'email':
      return 'someone@example.com';
    case 'enumeration':
      return attribute.enum?.[0];
    case 'integer':
    case 'decimal':
    case 'float':
      return between(type === 'integer' ? 3 : 4.5, attribute);
    case 'biginteger':
      return String(attribute.min ?? '9007199254740993');
    case 'boolean':
      return true;
    case 'date':
      return DATE;
    case 'time':
      return '12:30:00';
    case 'datetime':
      return INSTANT;
    case 'json':
      return { example: true };
    case 'blocks':
      return [{ type: 'paragraph', children: [{ type: 'text', text: 'Example' }] }];
    default:
      return assertNever(type);
  }
}

function sampleText(attribute: ScalarAttribute): string | undefined {
  const { name, type, regex, minLength = 0, maxLength = 255 } = attribute;
  const pattern = regex === undefined ? undefined : new RegExp(regex);
  const own = type === 'uid' ? `example-${name}` : `Example ${name}`;
  const fitting = [own, ...TEXTS].map((text) => text.padEnd(minLength, '0').slice(0, maxLength));
  return fitting.find((text) => pattern?.test(text) ?? true);
}

function between(number: number, { min, max }: ScalarAttribute): number {
  return Math.min(Math.max(number, Number(min ?? number)), Number(max ?? number));
}
