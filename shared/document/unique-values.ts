import { columnValue, textForm } from '../read-index/column.ts';
import { componentStep } from '../read-index/component-step.ts';
import type { ComponentStep } from '../read-index/read-index.ts';
import { remembered } from '../remembered.ts';
import { allowedComponents } from '../schema/component-uids.ts';
import { type ContentType, FILE_TYPE, type Model, type ScalarAttribute } from '../schema/content-type.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import type { EntryValues } from './events.ts';

/**
 * Path in the entries of a content type whose values must be unique (SEMANTICS section 13). It leads to a unique attribute of the type, or
 * of a component at the end of `path`. Each path is separate, as in Strapi. In a dynamic zone each kind of component has its own.
 */
export type UniquePath = {
  /** `slug`, `address.code`, `sections[blocks.hero].anchor`: one name for each unique path of a type. */
  readonly name: string;
  readonly path: readonly ComponentStep[];
  readonly attribute: ScalarAttribute;
};

/** A value at a unique path. */
export type UniqueValue = {
  /** Path for messages, such as `links[1].url`. */
  readonly at: string;
  readonly value: unknown;
  /** Text for the comparison. Values with the same text are equal. */
  readonly text: string;
};

const uniquePathsOf = remembered((registry: SchemaRegistry) =>
  remembered((type: ContentType): readonly UniquePath[] => placesIn(registry, type, [], '')),
);

/** Returns all unique paths of a type. Computed once for each registry. */
export function uniquePaths(registry: SchemaRegistry, type: ContentType): readonly UniquePath[] {
  return uniquePathsOf(registry)(type);
}

/**
 * Returns the paths by which the graph looks up documents. They are the unique paths, and the hash of files, which several files may share.
 */
export function lookUpPaths(registry: SchemaRegistry, type: ContentType): readonly UniquePath[] {
  const places = uniquePaths(registry, type);
  const hash = type.uid === FILE_TYPE ? type.attributes.get('hash') : undefined;
  return hash?.kind === 'scalar' ? [...places, { name: 'hash', path: [], attribute: hash }] : places;
}

function placesIn(
  registry: SchemaRegistry,
  model: Model,
  path: readonly ComponentStep[],
  prefix: string,
): UniquePath[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    const { name, kind } = attribute;
    if (kind === 'scalar') {
      // A `uid` is unique even if the schema does not say so.
      const isUnique = attribute.unique || attribute.type === 'uid';
      return isUnique ? [{ name: prefix + name, path, attribute }] : [];
    }
    return allowedComponents(attribute).flatMap((uid) => {
      const component = registry.components.get(uid);
      // A component may still be missing between two definitions that one start appends.
      if (component === undefined) return [];
      const kindOf = kind === 'dynamiczone' ? `[${uid}]` : '';
      const inner = [...path, componentStep(attribute, uid)];
      return placesIn(registry, component, inner, `${prefix}${name}${kindOf}.`);
    });
  });
}

/** Returns the attribute of the content type that contains the path. */
export function attributeOfUniquePath({ path, attribute }: UniquePath): string {
  return path[0]?.attribute ?? attribute.name;
}

/** Returns the values at a unique path of an entry, as stored; null and "" do not count. */
export function valuesAtPath({ path, attribute }: UniquePath, values: EntryValues): UniqueValue[] {
  const found: UniqueValue[] = [];
  for (const { component, at } of componentsAt([{ component: values, at: '' }], path)) {
    const value = component[attribute.name];
    if (value === undefined || value === null || value === '') continue;
    found.push({ at: at + attribute.name, value, text: uniqueText(attribute, value) });
  }
  return found;
}

type Found = { readonly component: EntryValues; readonly at: string };

/** Returns the components at the end of a path, each with the first part of its members' paths. */
function componentsAt(above: readonly Found[], path: readonly ComponentStep[]): readonly Found[] {
  const [step, ...rest] = path;
  if (step === undefined) return above;
  const next: Found[] = [];
  for (const { component, at } of above) {
    const value = component[step.attribute];
    const isList = Array.isArray(value);
    for (const [i, inner] of (isList ? value : [value]).entries()) {
      // A part that was refused leaves a gap.
      if (inner === undefined || inner === null) continue;
      if (step.zoneComponent !== undefined && inner.__component !== step.zoneComponent) continue;
      next.push({ component: inner, at: `${at}${step.attribute}${isList ? `[${i}]` : ''}.` });
    }
  }
  return componentsAt(next, rest);
}

/** Returns the text of the column's value, so that 1.5 and 1.50, or two spellings of one instant, are equal. */
function uniqueText({ type }: ScalarAttribute, value: unknown): string {
  const column = columnValue(type, value);
  if (column === null) return '';
  // -0 equals 0.
  return textForm(type, column === 0 ? 0 : column);
}
