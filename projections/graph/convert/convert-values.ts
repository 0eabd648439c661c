import type { AttributeWithComponents } from '../../../shared/schema/component-uids.ts';
import type { Attribute, ComponentAttribute, Model, Uid } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { componentList, componentUid, type StoredComponent, type Values } from '../store/present-row.ts';
import { convertScalar } from './convert-scalar.ts';

/** A content type or component as it was and as it is, with the components that it can contain. */
export type ModelChange = {
  readonly before: { readonly registry: SchemaRegistry; readonly model: Model };
  readonly now: { readonly registry: SchemaRegistry; readonly model: Model };
};

/**
 * Earlier name of an attribute: its own, or `pluginOptions.varve.renamedFrom` if there was no attribute with its own name. undefined: it is
 * new.
 */
export function originOf(attribute: Attribute, { attributes }: Model): Attribute | undefined {
  const own = attributes.get(attribute.name);
  if (own !== undefined) return own;
  const { renamedFrom } = (attribute.varve ?? {}) as { renamedFrom?: unknown };
  return typeof renamedFrom === 'string' ? attributes.get(renamedFrom) : undefined;
}

/** Converts the values of a row or component to the new definition. Drops values without an attribute there. */
export function convertValues(change: ModelChange, values: Values): Values {
  const converted: Record<string, unknown> = {};
  for (const attribute of change.now.model.attributes.values()) {
    const origin = originOf(attribute, change.before.model);
    const value = origin === undefined ? undefined : values[origin.name];
    if (origin === undefined || value === null || value === undefined) continue;
    const kept = convertValue(change, origin, attribute, value);
    if (kept !== null && kept !== undefined) converted[attribute.name] = kept;
  }
  return converted;
}

function convertValue(change: ModelChange, before: Attribute, now: Attribute, value: unknown): unknown {
  switch (now.kind) {
    case 'scalar':
      return before.kind === 'scalar' ? convertScalar(before.type, now, value) : null;
    case 'component':
      if (before.kind !== 'component' || before.component !== now.component) return null;
      return ofOneOrSeveral(now, convertComponents(change, before, componentList(value)));
    case 'dynamiczone':
      if (before.kind !== 'dynamiczone') return null;
      return convertComponents(
        change,
        before,
        componentList(value).filter((component) => now.components.includes(componentUid(before, component))),
      );
    case 'relation':
      return null;
  }
}

/** If an attribute becomes a single component, several components become none, because no rule says which one to keep. */
function ofOneOrSeveral(now: ComponentAttribute, components: readonly StoredComponent[]): unknown {
  if (now.repeatable) return components;
  return components.length === 1 ? components[0] : null;
}

function convertComponents(
  change: ModelChange,
  bearer: AttributeWithComponents,
  components: readonly StoredComponent[],
): readonly StoredComponent[] {
  return components.flatMap((component) => {
    const inner = componentChange(change, componentUid(bearer, component));
    if (inner === undefined) return [];
    const { id, __component } = component;
    const named = __component === undefined ? { id } : { __component, id };
    return [{ ...named, ...convertValues(inner, component) } as StoredComponent];
  });
}

/** Returns the change of a component; undefined: it no longer exists. */
export function componentChange({ before, now }: ModelChange, uid: Uid): ModelChange | undefined {
  const [was, is] = [before.registry.components.get(uid), now.registry.components.get(uid)];
  if (was === undefined || is === undefined) return undefined;
  return { before: { registry: before.registry, model: was }, now: { registry: now.registry, model: is } };
}
