import { columnValue, textForm } from '../read-index/column.ts';
import type { ComponentStep } from '../read-index/read-index.ts';
import { type ContentType, FILE_TYPE, type Model, type ScalarAttribute } from '../schema/content-type.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import type { EntryValues } from './events.ts';

/**
 * Where in the entries of a content type a value may stand once only (SEMANTICS section 13): a unique attribute of the type, or
 * one of a component at the end of `path`. Each such path is a place of its own, as in Strapi; in a dynamic zone each kind of
 * component.
 */
export type UniquePlace = {
  /** `slug`, `address.code`, `sections[blocks.hero].anchor`: one name for each place of a type. */
  readonly name: string;
  readonly path: readonly ComponentStep[];
  readonly attribute: ScalarAttribute;
};

/** A value that stands at a place. */
export type UniqueValue = {
  /** As in messages: `links[1].url`. */
  readonly at: string;
  readonly value: unknown;
  /** What is compared: two values of the same text are the same. */
  readonly text: string;
};

const known = new WeakMap<SchemaRegistry, Map<ContentType, readonly UniquePlace[]>>();

/** All places of a type. Worked out once for each registry. */
export function uniquePlaces(registry: SchemaRegistry, type: ContentType): readonly UniquePlace[] {
  const types = known.get(registry) ?? new Map<ContentType, readonly UniquePlace[]>();
  known.set(registry, types);
  const places = types.get(type) ?? placesIn(registry, type, [], '');
  types.set(type, places);
  return places;
}

/**
 * The places of a type that the graph looks documents up by: those of unique values, and the hash of files, which several may
 * have.
 */
export function lookUpPlaces(registry: SchemaRegistry, type: ContentType): readonly UniquePlace[] {
  const places = uniquePlaces(registry, type);
  const hash = type.uid === FILE_TYPE ? type.attributes.get('hash') : undefined;
  return hash?.kind === 'scalar' ? [...places, { name: 'hash', path: [], attribute: hash }] : places;
}

function placesIn(
  registry: SchemaRegistry,
  model: Model,
  path: readonly ComponentStep[],
  prefix: string,
): UniquePlace[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    const { name, kind } = attribute;
    if (kind === 'scalar') {
      // A `uid` is unique whatever the schema says.
      const isUnique = attribute.unique || attribute.type === 'uid';
      return isUnique ? [{ name: prefix + name, path, attribute }] : [];
    }
    if (kind === 'relation') return [];
    const steps: readonly ComponentStep[] =
      kind === 'component'
        ? [{ attribute: name }]
        : attribute.components.map((zoneComponent) => ({ attribute: name, zoneComponent }));
    return steps.flatMap((step) => {
      const uid = kind === 'component' ? attribute.component : (step.zoneComponent ?? '');
      const component = registry.components.get(uid);
      // Between two definitions of one start a component may still be missing.
      if (component === undefined) return [];
      const kindOf = step.zoneComponent === undefined ? '' : `[${step.zoneComponent}]`;
      return placesIn(registry, component, [...path, step], `${prefix}${name}${kindOf}.`);
    });
  });
}

/** The attribute of the content type itself that the place is, or is in. */
export function attributeOfPlace({ path, attribute }: UniquePlace): string {
  return path[0]?.attribute ?? attribute.name;
}

/** What stands at a place of an entry, as its values are stored; null and "" are no values there. */
export function valuesAtPlace({ path, attribute }: UniquePlace, values: EntryValues): UniqueValue[] {
  const found: UniqueValue[] = [];
  for (const { component, at } of holders([{ component: values, at: '' }], path)) {
    const value = component[attribute.name];
    if (value === undefined || value === null || value === '') continue;
    found.push({ at: at + attribute.name, value, text: uniqueText(attribute, value) });
  }
  return found;
}

type Holder = { readonly component: EntryValues; readonly at: string };

/** The components at the end of a path, each with the beginning of its members' paths. */
function holders(above: readonly Holder[], path: readonly ComponentStep[]): readonly Holder[] {
  const [step, ...rest] = path;
  if (step === undefined) return above;
  const next: Holder[] = [];
  for (const { component, at } of above) {
    const held = component[step.attribute];
    const isList = Array.isArray(held);
    for (const [i, inner] of (isList ? held : [held]).entries()) {
      // What was refused has left a gap.
      if (inner === undefined || inner === null) continue;
      if (step.zoneComponent !== undefined && inner.__component !== step.zoneComponent) continue;
      next.push({ component: inner, at: `${at}${step.attribute}${isList ? `[${i}]` : ''}.` });
    }
  }
  return holders(next, rest);
}

/** As the column's text, so that 1.5 and 1.50 or two ways to write one instant are the same. */
function uniqueText({ type }: ScalarAttribute, value: unknown): string {
  const column = columnValue(type, value);
  if (column === null) return '';
  // -0 is 0.
  return textForm(type, column === 0 ? 0 : column);
}
