import { valueAt } from '../map-values.ts';
import { remembered } from '../remembered.ts';
import type { Attribute, Model } from '../schema/content-type.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import { mayFind, type Rights, rightsKey } from './rights.ts';

const visible = remembered((_registry: SchemaRegistry) => new Map<string, SchemaRegistry>());

/**
 * Returns the content types that a caller sees. Relations to a type that the caller may not `find` are omitted, also inside components.
 * Code that plans, writes or describes with this registry does not know such a relation, so no later check is needed. Returns the registry
 * itself if nothing is hidden. Computed once for equal rights.
 */
export function visibleRegistry(registry: SchemaRegistry, rights: Rights): SchemaRegistry {
  return valueAt(visible(registry), rightsKey(rights), () => createVisible(registry, rights));
}

function createVisible(registry: SchemaRegistry, rights: Rights): SchemaRegistry {
  const contentTypes = mapValues(registry.contentTypes, (type) => visibleModel(type, rights));
  const components = mapValues(registry.components, (component) => visibleModel(component, rights));
  const isWhole = isSame(contentTypes, registry.contentTypes) && isSame(components, registry.components);
  return isWhole ? registry : { contentTypes, components };
}

/** Returns the model itself if it has nothing to hide. */
function visibleModel<Kind extends Model>(model: Kind, rights: Rights): Kind {
  const shown = [...model.attributes].filter(([, attribute]) => isVisible(attribute, rights));
  return shown.length === model.attributes.size ? model : { ...model, attributes: new Map(shown) };
}

function isVisible(attribute: Attribute, rights: Rights): boolean {
  return attribute.kind !== 'relation' || mayFind(rights, attribute.target);
}

function mapValues<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  change: (value: Value) => Value,
): Map<Key, Value> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

function isSame<Key, Value>(a: ReadonlyMap<Key, Value>, b: ReadonlyMap<Key, Value>): boolean {
  return [...a].every(([key, value]) => b.get(key) === value);
}
