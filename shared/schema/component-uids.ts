import type { Attribute, ComponentAttribute, DynamicZoneAttribute, Uid } from './content-type.ts';

/** Returns the components that values of an attribute may have: none for a scalar or a relation. */
export function allowedComponents(attribute: Attribute): readonly Uid[] {
  if (attribute.kind === 'component') return [attribute.component];
  return attribute.kind === 'dynamiczone' ? attribute.components : [];
}

/** Returns the component that a value has. In a dynamic zone the value names it: `undefined` as text if it does not. */
export function uidOfComponent(
  attribute: ComponentAttribute | DynamicZoneAttribute,
  value: { readonly __component?: unknown },
): Uid {
  return attribute.kind === 'component' ? attribute.component : String(value.__component);
}
