import {
  type Attribute,
  type ContentType,
  FILE_TYPE,
  type Model,
  type Uid,
  USER_TYPE,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Query strings of Strapi's REST API, as pairs of names and values. */
export type Query = readonly (readonly [name: string, value: string])[];

/** Returns the path of a type's rows below the API's prefix. */
export function pathOf(type: ContentType): string {
  if (type.uid === FILE_TYPE) return '/upload/files';
  return `/${type.kind === 'singleType' ? type.singularName : type.pluralName}`;
}

/** Returns whether Strapi answers a type with a bare list, paged by `start` and `limit`: users and files. */
export function isBareList({ uid }: ContentType): boolean {
  return uid === FILE_TYPE || uid === USER_TYPE;
}

/** Returns the query string. Names stay as they are: they have brackets, which Strapi reads unencoded. */
export function queryText(query: Query): string {
  return query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/** Returns the query for the fields of a stamp. */
export function stampFields(type: ContentType): Query {
  const names = ['documentId', 'updatedAt', 'publishedAt', ...(type.localized ? ['locale'] : [])];
  return names.map((name, at) => [`fields[${at}]`, name]);
}

/** Returns the filter for the rows of these documents. */
export function documentFilter(documentIds: readonly string[]): Query {
  return documentIds.map((documentId, at) => [`filters[documentId][$in][${at}]`, documentId]);
}

/** Returns the `populate` for a complete row of the type. It asks only for the names of relation targets. */
export function populateWhole(registry: SchemaRegistry, type: ContentType): Query {
  const role: Query = type.uid === USER_TYPE ? [['populate[role]', 'true']] : [];
  return [...populateModel(registry, type, 'populate'), ...role];
}

function populateModel(registry: SchemaRegistry, model: Model, prefix: string): Query {
  return [...model.attributes.values()]
    .filter((attribute) => !attribute.private)
    .flatMap((attribute) => populateAttribute(registry, attribute, `${prefix}[${attribute.name}]`));
}

function populateAttribute(registry: SchemaRegistry, attribute: Attribute, name: string): Query {
  switch (attribute.kind) {
    case 'scalar':
      return [];
    case 'relation':
      return populateTargets(registry, attribute.target, name);
    case 'component':
      return populateComponent(registry, attribute.component, name);
    default:
      return attribute.components.flatMap((uid) => populateComponent(registry, uid, `${name}[on][${uid}]`));
  }
}

function populateTargets(registry: SchemaRegistry, target: Uid, name: string): Query {
  const type = registry.contentTypes.get(target);
  if (type === undefined) return [];
  const locale: Query = type.localized ? [[`${name}[fields][1]`, 'locale']] : [];
  return [[`${name}[fields][0]`, 'documentId'], ...locale];
}

function populateComponent(registry: SchemaRegistry, uid: Uid, name: string): Query {
  const component = registry.components.get(uid);
  if (component === undefined) return [];
  const inner = populateModel(registry, component, `${name}[populate]`);
  return inner.length === 0 ? [[name, 'true']] : inner;
}
