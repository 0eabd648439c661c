import type { LinkTarget } from '../../../shared/document/events.ts';
import type { ComponentStep } from '../../../shared/read-index/read-index.ts';
import type {
  ComponentAttribute,
  DynamicZoneAttribute,
  Model,
  Uid,
} from '../../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { componentList, componentUid, type StoredComponent, type Values } from './present-row.ts';
import { storedScalar } from './stored-scalar.ts';

export type AttributeWithComponents = ComponentAttribute | DynamicZoneAttribute;

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
      values[name] = storedScalar(attribute.type, value);
      continue;
    }
    const links: ComponentLinks[] = [];
    values[name] = storedComponents({ ...splitter, links }, attribute, value, []);
    link(name, links);
  }
  return values;
}

/** The stored form of a component attribute's value; null when it is empty. */
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
  return stored;
}

function storedComponent(
  splitter: ComponentSplitter,
  attribute: AttributeWithComponents,
  value: { readonly id?: number; readonly __component?: Uid } & Values,
  above: readonly ComponentStep[],
): StoredComponent {
  const uid = componentUid(attribute, value);
  const path = [...above, stepInto(attribute, uid)];
  const id = value.id !== undefined && splitter.isKept(uid, value.id) ? value.id : splitter.nextId(uid);
  const stored: Record<string, unknown> =
    attribute.kind === 'dynamiczone' ? { __component: uid, id } : { id };
  for (const inner of componentOf(splitter.registry, uid).attributes.values()) {
    const given = value[inner.name];
    if (given === null || given === undefined) continue;
    if (inner.kind === 'scalar') stored[inner.name] = storedScalar(inner.type, given);
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

function stepInto(attribute: AttributeWithComponents, uid: Uid): ComponentStep {
  return attribute.kind === 'dynamiczone'
    ? { attribute: attribute.name, zoneComponent: uid }
    : { attribute: attribute.name };
}

/** Component attributes of a model in schema order. */
export function attributesWithComponents(model: Model): readonly AttributeWithComponents[] {
  const bearers: AttributeWithComponents[] = [];
  for (const attribute of model.attributes.values()) {
    if (attribute.kind === 'component' || attribute.kind === 'dynamiczone') bearers.push(attribute);
  }
  return bearers;
}

/** Where a component is: its kind, and the steps that lead to it. */
export type ComponentPlace = { readonly uid: Uid; readonly path: readonly ComponentStep[] };

/** Replaces every component of an attribute's stored value (nested ones too, outer before inner). */
export function mapComponents(
  registry: SchemaRegistry,
  attribute: AttributeWithComponents,
  value: unknown,
  map: (component: StoredComponent, place: ComponentPlace) => StoredComponent,
): unknown {
  const mapBelow = (
    bearer: AttributeWithComponents,
    stored: unknown,
    path: readonly ComponentStep[],
  ): unknown => {
    if (stored === null || stored === undefined) return stored;
    const mapped = componentList(stored).map((component) => {
      const uid = componentUid(bearer, component);
      const inner = [...path, stepInto(bearer, uid)];
      const copy: Record<string, unknown> = { ...map(component, { uid, path: inner }) };
      for (const each of attributesWithComponents(componentOf(registry, uid))) {
        if (copy[each.name] !== undefined) copy[each.name] = mapBelow(each, copy[each.name], inner);
      }
      return copy;
    });
    return Array.isArray(stored) ? mapped : mapped[0];
  };
  return mapBelow(attribute, value, []);
}

/** Ids of all components in a row's component values, as `<uid> <id>`. */
export function componentIds(registry: SchemaRegistry, model: Model, values: Values): Set<string> {
  const ids = new Set<string>();
  for (const bearer of attributesWithComponents(model)) {
    mapComponents(registry, bearer, values[bearer.name], (component, { uid }) => {
      ids.add(`${uid} ${component.id}`);
      return component;
    });
  }
  return ids;
}
