import type { Attribute, Component, ContentType, Uid } from './content-type.ts';

/** Every content type and component in force, validated as a whole: each target, inverse side and component exists. */
export type SchemaRegistry = {
  readonly contentTypes: ReadonlyMap<Uid, ContentType>;
  readonly components: ReadonlyMap<Uid, Component>;
};

/** The content type of `uid`. Throws when it is not defined: a registry is validated, so that is a bug. */
export function contentTypeOf(registry: SchemaRegistry, uid: Uid): ContentType {
  const type = registry.contentTypes.get(uid);
  if (type === undefined) throw new Error(`content type ${uid} is not defined`);
  return type;
}

/** The component of `uid`. Throws when it is not defined. */
export function componentOf(registry: SchemaRegistry, uid: Uid): Component {
  const component = registry.components.get(uid);
  if (component === undefined) throw new Error(`component ${uid} is not defined`);
  return component;
}

/** The relation a link belongs to, named after its owning side, and which side `attribute` is. */
export type RelationSide = {
  readonly ownerType: Uid;
  readonly ownerAttribute: string;
  readonly side: 'owner' | 'inverse';
};

/** Storage of the links of a content type's relation attribute. */
export function relationSide(type: Uid, attribute: Attribute & { kind: 'relation' }): RelationSide {
  return attribute.mappedBy === undefined
    ? { ownerType: type, ownerAttribute: attribute.name, side: 'owner' }
    : { ownerType: attribute.target, ownerAttribute: attribute.mappedBy, side: 'inverse' };
}

/** The path segment below `/api` that a type's entries are served under (Strapi: plural for collections, singular for single types). */
export function routeNameOf(type: ContentType): string {
  return type.kind === 'collectionType' ? type.pluralName : type.singularName;
}
