import type { Attribute, ComponentAttribute, DynamicZoneAttribute, Model, Uid } from './content-type.ts';

export type AttributeWithComponents = ComponentAttribute | DynamicZoneAttribute;

/** Returns the attributes of a model whose values are components, in schema order. */
export function attributesWithComponents(model: Model): readonly AttributeWithComponents[] {
  return [...model.attributes.values()].filter(
    (attribute) => attribute.kind === 'component' || attribute.kind === 'dynamiczone',
  );
}

/** Returns the components that values of an attribute may have; none for a scalar or a relation. */
export function allowedComponents(attribute: Attribute): readonly Uid[] {
  if (attribute.kind === 'component') return [attribute.component];
  return attribute.kind === 'dynamiczone' ? attribute.components : [];
}

/** Returns the component that a value has. In a dynamic zone the value names it. If it does not, the result is the text `undefined`. */
export function uidOfComponent(
  attribute: AttributeWithComponents,
  value: { readonly __component?: unknown },
): Uid {
  if (attribute.kind === 'component') return attribute.component;
  const { __component: name } = value;
  // An object may have another member `toString`, and a list any depth.
  return typeof name === 'object' ? 'undefined' : String(name);
}
