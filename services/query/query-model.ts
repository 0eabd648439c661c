import { assertNever } from '../../shared/assert-never.ts';
import { valueAt } from '../../shared/map-values.ts';
import { remembered } from '../../shared/remembered.ts';
import {
  type Attribute,
  type ContentType,
  FILE_TYPE,
  type Model,
  type ScalarType,
  type Uid,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type GeoColumns, geoColumns } from '../../shared/schema/search-geo.ts';
import { localizationsAttribute, queryableScalars } from '../../shared/schema/system-attributes.ts';

/** A column that a request may name: a public scalar attribute, or one that the system sets. */
export type QueryScalar = {
  readonly kind: 'scalar';
  readonly name: string;
  readonly type: ScalarType;
  /** Every row has a value. */
  readonly neverNull: boolean;
  /** Takes part in `_q`. */
  readonly searchable: boolean;
};

/** An attribute that leads to other rows: each mention in a filter is one variable (SEMANTICS section 1). */
export type QueryLink = {
  readonly kind: 'relation' | 'component';
  readonly name: string;
  readonly target: Uid;
  readonly toMany: boolean;
};

export type QueryZone = { readonly kind: 'zone'; readonly name: string; readonly components: readonly Uid[] };

export type QueryAttribute = QueryScalar | QueryLink | QueryZone;

/**
 * Names of a content type or component that a request may use: the allow-list of all stages. It does not contain private attributes and
 * passwords, so they look like unknown names. `hidden` has the names that every content type of Strapi has but this one does not offer,
 * such as `createdBy`, or `locale` without i18n. Strapi reports them with their whole path.
 */
export type QueryModel = {
  readonly uid: Uid;
  readonly singularName: string;
  /** null for a component. */
  readonly type: ContentType | null;
  readonly attributes: ReadonlyMap<string, QueryAttribute>;
  readonly hidden: ReadonlySet<string>;
  /** Names for the points of a content type, which only filters and sorts use. */
  readonly geo: ReadonlyMap<string, GeoColumns>;
};

/** Schema and caller, for all stages. */
export type QueryScope = {
  readonly registry: SchemaRegistry;
  /** False for a content type that the caller may not `find`: for that caller no relation leads to it. Absent = all may be found. */
  readonly mayFind?: (type: Uid) => boolean;
  /** False for a caller that may not know about unpublished content. Absent = true. */
  readonly mayReadDrafts?: boolean;
  /** Operators that search text ignore its case. Absent = they do not. */
  readonly containsIgnoresCase?: boolean;
};

/** Attributes that every content type of Strapi has. Which of them a request may name depends on the type. */
const STRAPI_ATTRIBUTES = ['createdBy', 'updatedBy', 'locale', 'localizations'];
/** Further attributes that each file has in Strapi. */
const FILE_ATTRIBUTES = ['folder', 'folderPath', 'related'];

const modelsOf = remembered((_registry: SchemaRegistry) => new Map<Uid, QueryModel>());

/** Returns the allow-list of a content type or component, which is made once per registry. */
export function queryModelOf(registry: SchemaRegistry, uid: Uid): QueryModel {
  return valueAt(modelsOf(registry), uid, () => createQueryModel(registry, uid));
}

/** Returns the attribute with this name; 'hidden' for one of Strapi's own names; undefined if this caller may not use it. */
export function lookUp(
  model: QueryModel,
  name: string,
  scope: QueryScope,
): QueryAttribute | 'hidden' | undefined {
  const attribute = model.attributes.get(name);
  if (attribute === undefined) return model.hidden.has(name) ? 'hidden' : undefined;
  if (attribute.kind === 'relation' && scope.mayFind?.(attribute.target) === false) return undefined;
  return attribute;
}

/** Returns the names of a model that the caller may use, for `accepted` in messages. */
export function acceptedNames(
  model: QueryModel,
  scope: QueryScope,
  kinds: readonly QueryAttribute['kind'][],
): readonly string[] {
  return [...model.attributes.values()]
    .filter(
      (attribute) => kinds.includes(attribute.kind) && lookUp(model, attribute.name, scope) === attribute,
    )
    .map((attribute) => attribute.name);
}

function createQueryModel(registry: SchemaRegistry, uid: Uid): QueryModel {
  const type = registry.contentTypes.get(uid) ?? null;
  const model: Model | undefined = type ?? registry.components.get(uid);
  if (model === undefined) throw new Error(`${uid} is not defined`);
  const attributes = new Map<string, QueryAttribute>();
  for (const { name, type: scalarType, searchable } of queryableScalars(model).values()) {
    const neverNull = name === 'id' || name === 'documentId';
    attributes.set(name, { kind: 'scalar', name, type: scalarType, neverNull, searchable });
  }
  const localizations = type === null ? undefined : localizationsAttribute(type);
  for (const attribute of [...model.attributes.values(), ...(localizations ? [localizations] : [])]) {
    const queryable = queryLink(registry, attribute);
    if (queryable !== null) attributes.set(attribute.name, queryable);
  }
  const ofStrapi = uid === FILE_TYPE ? [...STRAPI_ATTRIBUTES, ...FILE_ATTRIBUTES] : STRAPI_ATTRIBUTES;
  const hidden = new Set(type === null ? [] : ofStrapi.filter((name) => !attributes.has(name)));
  return { uid, singularName: type?.singularName ?? uid, type, attributes, hidden, geo: geoColumns(model) };
}

/** null for a scalar (see `queryableScalars`) and for attributes that no request may name. */
function queryLink(registry: SchemaRegistry, attribute: Attribute): QueryLink | QueryZone | null {
  if (attribute.private) return null;
  const { name } = attribute;
  switch (attribute.kind) {
    case 'scalar':
      return null;
    case 'relation':
      return registry.contentTypes.has(attribute.target)
        ? { kind: 'relation', name, target: attribute.target, toMany: attribute.toMany }
        : null;
    case 'component':
      return { kind: 'component', name, target: attribute.component, toMany: attribute.repeatable };
    case 'dynamiczone':
      return { kind: 'zone', name, components: attribute.components };
    default:
      return assertNever(attribute);
  }
}
