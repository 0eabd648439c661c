import type { Attribute, Component, ContentType, Uid } from './content-type.ts';

/** All content types and components in force, checked together: each target, inverse side and component exists. */
export type SchemaRegistry = {
  readonly contentTypes: ReadonlyMap<Uid, ContentType>;
  readonly components: ReadonlyMap<Uid, Component>;
};

/** Returns the content type of `uid`. Throws if it is not defined. This is a bug, because a registry is validated. */
export function contentTypeOf(registry: SchemaRegistry, uid: Uid): ContentType {
  const type = registry.contentTypes.get(uid);
  if (type === undefined) throw new Error(`content type ${uid} is not defined`);
  return type;
}

/** Returns the component of `uid`. Throws if it is not defined. */
export function componentOf(registry: SchemaRegistry, uid: Uid): Component {
  const component = registry.components.get(uid);
  if (component === undefined) throw new Error(`component ${uid} is not defined`);
  return component;
}

/** Owning side of a relation, after which its links are named, and the side of an attribute. */
export type RelationSide = {
  readonly ownerType: Uid;
  readonly ownerAttribute: string;
  readonly side: 'owner' | 'inverse';
};

/** Returns the relation of a content type's attribute, and the side of the attribute. */
export function relationSide(type: Uid, attribute: Attribute & { kind: 'relation' }): RelationSide {
  return attribute.mappedBy === undefined
    ? { ownerType: type, ownerAttribute: attribute.name, side: 'owner' }
    : { ownerType: attribute.target, ownerAttribute: attribute.mappedBy, side: 'inverse' };
}

/** Returns whether queries may use a relation. A private one can only be used from its other side. */
export function isReachable(
  registry: SchemaRegistry,
  { private: hidden, target, inversedBy }: Attribute & { kind: 'relation' },
): boolean {
  if (!hidden) return true;
  if (inversedBy === undefined) return false;
  return contentTypeOf(registry, target).attributes.get(inversedBy)?.private === false;
}

/** Returns the path segment below `/api` for a type's entries (Strapi: plural for collections, singular for single types). */
export function routeNameOf(type: ContentType): string {
  return type.kind === 'collectionType' ? type.pluralName : type.singularName;
}
