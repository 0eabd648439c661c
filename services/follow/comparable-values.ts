import { storedScalar } from '../../projections/graph/store/stored-scalar.ts';
import { jsonText } from '../../shared/canonical-json.ts';
import type { LinkTarget } from '../../shared/document/events.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute, Model } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { targetKey } from './rest-row.ts';

type Values = { readonly [name: string]: unknown };

/** Returns a text that is equal for values with the same stored form. Members that no schema has are ignored. */
export function comparableValues(registry: SchemaRegistry, model: Model, values: Values): string {
  return jsonText(comparable(registry, model, values));
}

function comparable(registry: SchemaRegistry, model: Model, values: Values): Values {
  const found: Record<string, unknown> = {};
  for (const attribute of model.attributes.values()) {
    const value = comparableValue(registry, attribute, values[attribute.name]);
    if (value !== undefined) found[attribute.name] = value;
  }
  return found;
}

function comparableValue(registry: SchemaRegistry, attribute: Attribute, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (attribute.kind) {
    case 'scalar':
      return storedScalar(attribute, value);
    case 'relation': {
      const targets = (value as readonly LinkTarget[]).map(targetKey);
      return targets.length === 0 ? undefined : targets;
    }
    default: {
      const list = ([value].flat() as unknown as readonly Values[]).map((component) => {
        const uid = uidOfComponent(attribute, component);
        const model = registry.components.get(uid);
        return { uid, id: component['id'], ...(model && comparable(registry, model, component)) };
      });
      return list.length === 0 ? undefined : list;
    }
  }
}
