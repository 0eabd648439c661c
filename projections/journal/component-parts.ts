import type { ComponentValue } from '../../shared/document/events.ts';
import { addToList } from '../../shared/map-values.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute, ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/**
 * Parts of attributes with components, by path, as JSON. The part at `address` has the kinds of its components in their order, the one at
 * `address/common.address/street` has all their streets. No part has the ids of components.
 */
export type ComponentParts = ReadonlyMap<string, string>;

const STEP = '/';

/** Returns the parts of values of a row, as events give values. */
export function componentParts(
  registry: SchemaRegistry,
  { attributes }: ContentType,
  values: { readonly [attribute: string]: unknown },
): ComponentParts {
  const lists = new Map<string, unknown[]>();
  for (const [path, value] of Object.entries(values)) {
    const attribute = attributes.get(path);
    if (attribute !== undefined) collect(registry, attribute, { value, path, lists });
  }
  return new Map([...lists].map(([path, list]) => [path, JSON.stringify(list)]));
}

/** Returns the paths whose parts differ. */
export function changedParts(before: ComponentParts, after: ComponentParts): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

/** Returns the attribute of the content type that a path begins with. */
export function attributeOf(path: string): string {
  return path.split(STEP, 1)[0] ?? path;
}

/** Returns whether the caller may see the value at a path. `registry` and `attributes` are those that the caller sees. */
function isVisiblePath(
  registry: SchemaRegistry,
  attributes: ReadonlyMap<string, Attribute> | undefined,
  path: string,
): boolean {
  const [name = '', uid, ...rest] = path.split(STEP);
  if (attributes?.get(name)?.private !== false) return false;
  if (uid === undefined) return true;
  return isVisiblePath(registry, registry.components.get(uid)?.attributes, rest.join(STEP));
}

/** Returns the attributes among changed names that the caller may see, in order; null if any of them may have changed. */
export function visibleNames(
  registry: SchemaRegistry,
  attributes: ReadonlyMap<string, Attribute> | undefined,
  changed: ReadonlySet<string> | 'all',
): readonly string[] | null {
  if (changed === 'all') return null;
  const shown = [...changed].filter((path) => isVisiblePath(registry, attributes, path));
  return [...new Set(shown.map(attributeOf))].sort();
}

type Collected = {
  readonly value: unknown;
  readonly path: string;
  readonly lists: Map<string, unknown[]>;
};

function collect(registry: SchemaRegistry, attribute: Attribute, { value, path, lists }: Collected): void {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') {
    addToList(lists, path, value ?? null);
    return;
  }
  const given: unknown = value ?? [];
  const components = (Array.isArray(given) ? given : [given]) as readonly ComponentValue[];
  const uids = components.map((component) => uidOfComponent(attribute, component));
  addToList(lists, path, uids);
  for (const [at, component] of components.entries()) {
    const uid = uids[at] ?? '';
    for (const inner of registry.components.get(uid)?.attributes.values() ?? [])
      collect(registry, inner, {
        value: component[inner.name],
        path: [path, uid, inner.name].join(STEP),
        lists,
      });
  }
}
