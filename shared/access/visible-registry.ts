import type { Attribute, Model } from '../schema/content-type.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import { mayFind, type Rights, rightsKey } from './rights.ts';

const visible = new WeakMap<SchemaRegistry, Map<string, SchemaRegistry>>();

/**
 * The content types as a caller sees them: without the relations, also inside components, that lead to a type it may not
 * `find`. Whatever is planned, written or described with this registry treats such a relation as a name that does not
 * exist, so there is nothing to check again. The registry itself when nothing is hidden; made once for equal rights.
 */
export function visibleRegistry(registry: SchemaRegistry, rights: Rights): SchemaRegistry {
  let known = visible.get(registry);
  if (known === undefined) {
    known = new Map();
    visible.set(registry, known);
  }
  const key = rightsKey(rights);
  let seen = known.get(key);
  if (seen === undefined) {
    seen = createVisible(registry, rights);
    known.set(key, seen);
  }
  return seen;
}

function createVisible(registry: SchemaRegistry, rights: Rights): SchemaRegistry {
  const contentTypes = mapValues(registry.contentTypes, (type) => visibleModel(type, rights));
  const components = mapValues(registry.components, (component) => visibleModel(component, rights));
  const isWhole = isSame(contentTypes, registry.contentTypes) && isSame(components, registry.components);
  return isWhole ? registry : { contentTypes, components };
}

/** The model itself when it has nothing to hide. */
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
