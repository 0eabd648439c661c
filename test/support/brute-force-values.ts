import fc from 'fast-check';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Attribute, Model, ScalarType, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

/** Values of random rows and queries of a read index. They are few, so that queries match rows. */

const TEXTS = ['', 'ab', 'Ab c', 'É', 'Σς', '\u{1F600}', '\uFFFD', 'x'.repeat(300)];

/** Returns the values of an attribute's type, in the form of answers. */
export function rawValues(type: ScalarType): readonly unknown[] {
  const fieldType = fieldTypeOf(type);
  if (fieldType === 'keyword') return TEXTS;
  if (fieldType === 'long') return ['0', '-1', '9007199254740992', '9007199254740993', '9223372036854775807'];
  if (fieldType === 'boolean') return [true, false];
  if (fieldType === 'time-of-day') return ['00:00:00', '08:30:00.500', '23:59:59'];
  if (type === 'date') return ['1999-12-31', '2000-01-01', '1969-07-20'];
  if (fieldType === 'instant') return ['2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.250Z'];
  if (fieldType === 'json') return [{ a: 1 }, { a: 1, b: 'B' }, [], 'text'];
  return type === 'integer' ? [0, 1, 2, 10, -3] : [0, 0.5, 1, 10.25, -3];
}

export const scalarsOf = (model: Model) =>
  [...queryableScalars(model).values()].filter(({ name }) => name !== 'id');
export const ownTypes = (registry: SchemaRegistry) =>
  [...registry.contentTypes.values()].filter((t) => !t.builtIn);
export const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
export const world: fc.Arbitrary<World> = fc.constantFrom('draft', 'published');

/** Returns the components that an attribute can hold. */
export function componentKinds(attribute: Attribute): readonly Uid[] {
  if (attribute.kind === 'component') return [attribute.component];
  return attribute.kind === 'dynamiczone' ? attribute.components : [];
}
