import type { ComponentValue } from '../../shared/document/events.ts';
import { addToList } from '../../shared/map-values.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { digestText } from '../../shared/text-digest.ts';

/**
 * Digests of the components of one attribute, by path. The digest at `address` covers their number and order, the one at
 * `address/common.address/street` covers all their streets. No digest covers the ids of components.
 */
export type ComponentParts = ReadonlyMap<string, string>;

const STEP = '/';

/** Returns digests of an attribute's value: one for each path in its components. A scalar or relation has one digest. */
export function digestParts(registry: SchemaRegistry, attribute: Attribute, value: unknown): ComponentParts {
  const lists = new Map<string, unknown[]>();
  collect(registry, attribute, { value, path: attribute.name, lists });
  return new Map([...lists].map(([path, list]) => [path, digestText(JSON.stringify(list))]));
}

/** Returns the paths whose digests differ. */
export function changedParts(before: ComponentParts | undefined, after: ComponentParts): readonly string[] {
  const paths = new Set([...(before?.keys() ?? []), ...after.keys()]);
  return [...paths].filter((path) => before?.get(path) !== after.get(path));
}

/** Returns the attribute of the content type that a path begins with. */
export function attributeOf(path: string): string {
  return path.split(STEP, 1)[0] ?? path;
}

/** Returns whether the caller may see the value at a path. `registry` and `attributes` are those that the caller sees. */
export function isVisiblePath(
  registry: SchemaRegistry,
  attributes: ReadonlyMap<string, Attribute> | undefined,
  path: string,
): boolean {
  const [name = '', uid, ...rest] = path.split(STEP);
  if (attributes?.get(name)?.private !== false) return false;
  if (uid === undefined) return true;
  return isVisiblePath(registry, registry.components.get(uid)?.attributes, rest.join(STEP));
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
