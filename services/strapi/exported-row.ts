import { LOGIN_ATTRIBUTE } from '../../shared/access/login-record.ts';
import { servedName } from '../../shared/asset-store/served-names.ts';
import type { Entry } from '../../shared/document/entry.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import {
  type Attribute,
  type ContentType,
  FILE_TYPE,
  type Model,
  USER_TYPE,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

type Values = { readonly [name: string]: unknown };

/** Line of `entities/`. */
export type ExportedRow = { readonly type: string; readonly id: number; readonly data: Values };

/** Returns a row in the form of Strapi's archives: every attribute except relations, and components with their ids. */
export function exportedRow(registry: SchemaRegistry, type: ContentType, entry: Entry): ExportedRow {
  const { id, documentId, createdAt, updatedAt, publishedAt, locale } = entry;
  const values = exportedValues(registry, type, entry.values);
  const data = { documentId, ...values, createdAt, updatedAt, publishedAt, locale };
  if (type.uid === FILE_TYPE) return { type: type.uid, id, data: { ...data, ...fileValues(data) } };
  return { type: type.uid, id, data };
}

/** Attributes of users that are not exported. The role is a relation in Strapi, and the login's own record has no meaning there. */
const OF_VARVE = new Set(['role', LOGIN_ATTRIBUTE]);

function exportedValues(registry: SchemaRegistry, model: Model, values: Values): Values {
  const exported: Record<string, unknown> = {};
  for (const attribute of model.attributes.values()) {
    const { name, kind } = attribute;
    if (kind === 'relation' || (model.uid === USER_TYPE && OF_VARVE.has(name))) continue;
    const value = values[name] ?? null;
    exported[name] = kind === 'scalar' ? value : components(registry, attribute, value);
  }
  return exported;
}

function components(
  registry: SchemaRegistry,
  attribute: Exclude<Attribute, { kind: 'scalar' | 'relation' }>,
  value: unknown,
): unknown {
  if (Array.isArray(value)) return value.map((one) => components(registry, attribute, one));
  if (value === null) return attribute.kind === 'component' && !attribute.repeatable ? null : [];
  const component = value as Values;
  const uid = uidOfComponent(attribute, component);
  const model = registry.components.get(uid);
  if (model === undefined) return null;
  const kind = attribute.kind === 'dynamiczone' ? { __component: uid } : {};
  return { id: component['id'], ...exportedValues(registry, model, component), ...kind };
}

/** Returns values that a file has in Strapi. Strapi finds a file by its hash and extension, which are the name in its URL. */
function fileValues({ url, ext, hash: content, formats }: Values): Values {
  const name = servedName(url);
  const extension = String(ext ?? '');
  const hash = name?.endsWith(extension) === true ? name.slice(0, name.length - extension.length) : content;
  const pictures = Object.entries((formats ?? {}) as { readonly [format: string]: object }).map(
    ([key, format]) => [key, name === undefined ? format : { ...format, hash: `${key}_${String(hash)}` }],
  );
  return {
    hash,
    ...(pictures.length > 0 && { formats: Object.fromEntries(pictures) }),
    // Varve has no folders.
    folderPath: '/',
  };
}
