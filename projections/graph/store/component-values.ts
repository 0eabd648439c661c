import type { LinkTarget } from '../../../shared/document/events.ts';
import { componentStep } from '../../../shared/read-index/component-step.ts';
import type { ComponentStep } from '../../../shared/read-index/read-index.ts';
import {
  type AttributeWithComponents,
  attributesWithComponents,
} from '../../../shared/schema/component-uids.ts';
import type { Model, Uid } from '../../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { componentList, componentUid, type StoredComponent, type Values } from './present-row.ts';
import { storedScalar } from './stored-scalar.ts';

/** A relation inside a component, with its links. */
export type ComponentLinks = {
  readonly path: readonly ComponentStep[];
  readonly attribute: string;
  readonly component: number;
  readonly targets: readonly LinkTarget[];
};

/** Splits an event's component values into stored values and links. Assigns ids to components without one. */
export type ComponentSplitter = {
  readonly registry: SchemaRegistry;
  /** Returns whether the row already has the component `id` of kind `uid`: only then the component keeps its id. */
  isKept(uid: Uid, id: number): boolean;
  nextId(uid: Uid): number;
  readonly links: ComponentLinks[];
};

/**
 * Returns an event's values of attributes as they are stored, without those of relations and of attributes that are not defined. `link`
 * gets the links inside each component attribute.
 */
export function storedValues(
  splitter: Omit<ComponentSplitter, 'links'>,
  model: Model,
  given: Values,
  link: (attribute: string, links: readonly ComponentLinks[]) => void,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const attribute = model.attributes.get(name);
    if (attribute === undefined || attribute.kind === 'relation') continue;
    if (attribute.kind === 'scalar') {
      values[name] = storedScalar(attribute, value);
      continue;
    }
    const links: ComponentLinks[] = [];
    values[name] = storedComponents({ ...splitter, links }, attribute, value, []);
    link(name, lastOfEach(links));
  }
  return values;
}

/** Omits the links of a component that a later one with its id replaces. */
function lastOfEach(links: readonly ComponentLinks[]): readonly ComponentLinks[] {
  const key = ({ path, attribute, component }: ComponentLinks) =>
    `${JSON.stringify(path)} ${component} ${attribute}`;
  return [...new Map(links.map((each) => [key(each), each])).values()];
}

/** Returns the stored form of a component attribute's value; null if it is empty. */
function storedComponents(
  splitter: ComponentSplitter,
  attribute: AttributeWithComponents,
  value: unknown,
  path: readonly ComponentStep[],
): StoredComponent | readonly StoredComponent[] | null {
  const stored = componentList(value).map((component) =>
    storedComponent(splitter, attribute, component, path),
  );
  if (attribute.kind === 'component' && !attribute.repeatable) return stored[0] ?? null;
  // Events of earlier releases may have one component twice in a list: the last counts, in the place of the first.
  return [...new Map(stored.map((each) => [`${each.__component ?? ''} ${each.id}`, each])).values()];
}

function storedComponent(
  splitter: ComponentSplitter,
  attribute: AttributeWithComponents,
  value: { readonly id?: number; readonly __component?: Uid } & Values,
  above: readonly ComponentStep[],
): StoredComponent {
  const uid = componentUid(attribute, value);
  const path = [...above, componentStep(attribute, uid)];
  const id = value.id !== undefined && splitter.isKept(uid, value.id) ? value.id : splitter.nextId(uid);
  const stored: Record<string, unknown> =
    attribute.kind === 'dynamiczone' ? { __component: uid, id } : { id };
  for (const inner of componentOf(splitter.registry, uid).attributes.values()) {
    const given = value[inner.name];
    if (given === null || given === undefined) continue;
    if (inner.kind === 'scalar') stored[inner.name] = storedScalar(inner, given);
    else if (inner.kind !== 'relation') {
      stored[inner.name] = storedComponents(splitter, inner, given, path);
    } else if (inner.mappedBy === undefined) {
      splitter.links.push({
        path,
        attribute: inner.name,
        component: id,
        targets: given as readonly LinkTarget[],
      });
    }
  }
  return stored as StoredComponent;
}

/** Replaces every component of an attribute's stored value (nested ones too, outer before inner). */
export function mapComponents(
  registry: SchemaRegistry,
  attribute: AttributeWithComponents,
  value: unknown,
  map: (component: StoredComponent, uid: Uid) => StoredComponent,
): unknown {
  if (value === null || value === undefined) return value;
  const mapped = componentList(value).map((component) => {
    const uid = componentUid(attribute, component);
    const copy: Record<string, unknown> = { ...map(component, uid) };
    for (const inner of attributesWithComponents(componentOf(registry, uid))) {
      const stored = copy[inner.name];
      if (stored !== undefined) copy[inner.name] = mapComponents(registry, inner, stored, map);
    }
    return copy;
  });
  return Array.isArray(value) ? mapped : mapped[0];
}

/** Yields all components in a row's values, as `<uid> <id>`. */
export function* componentKeys(registry: SchemaRegistry, model: Model, values: Values): Iterable<string> {
  for (const attribute of attributesWithComponents(model)) {
    for (const component of componentList(values[attribute.name])) {
      const uid = componentUid(attribute, component);
      yield `${uid} ${component.id}`;
      const inner = registry.components.get(uid);
      if (inner !== undefined) yield* componentKeys(registry, inner, component);
    }
  }
}
