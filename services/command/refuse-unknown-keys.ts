import { defined } from '../../shared/defined.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { Attribute, Model, RelationAttribute } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type Data, objectsIn, parseDataPayload } from './parse-data.ts';
import { validationError } from './problem.ts';
import { RELATION_OPERATIONS } from './resolve-relation.ts';

/** Keys that a body may have and that have no effect, because the server sets them. */
const IGNORED = new Set(['publishedAt', 'locale']);
/** Keys that are known, but that a client never writes. In Strapi's details their path is the key itself. */
const RESTRICTED = new Set(['createdBy', 'updatedBy', 'createdAt', 'updatedAt', 'localizations']);
const ID_KEYS = new Set(['id', 'documentId']);
const POSITION_KEYS = new Set(['start', 'end', 'before', 'after', 'locale', 'status']);
/** Keys of an answered entry that its content type does not define. */
const ANSWERED_KEYS = new Set(['createdAt', 'updatedAt', 'publishedAt', 'locale', 'localizations']);

/**
 * Throws 400 `Invalid key …` for the first key of `data` that cannot be written. That is an unknown key at any depth, or `id`, `documentId`
 * or a system attribute at the top. See SEMANTICS section 13, cases `write.unknown`.
 */
export function refuseUnknownKeys(registry: SchemaRegistry, type: Model, data: Data): void {
  for (const key of ['id', 'documentId']) if (Object.hasOwn(data, key)) throw invalidKey(key);
  for (const [key, value] of Object.entries(data)) {
    const attribute = type.attributes.get(key);
    if (attribute !== undefined) checkValue(registry, attribute, value, key);
    else if (!IGNORED.has(key)) throw invalidKey(key, RESTRICTED.has(key) ? key : null);
  }
}

/** Returns the `data` of a body. Throws 400 if there is none, or for the first key that cannot be written. */
export function writableData(
  registry: SchemaRegistry,
  type: Model,
  body: unknown,
): ReturnType<typeof parseDataPayload> {
  const payload = parseDataPayload(body);
  for (const item of objectsIn(payload)) refuseUnknownKeys(registry, type, item);
  return payload;
}

function checkValue(registry: SchemaRegistry, attribute: Attribute, value: unknown, path: string): void {
  switch (attribute.kind) {
    case 'scalar':
      return;
    case 'relation':
      checkRelation(registry, attribute, value, path);
      return;
    case 'component':
      for (const item of [value].flat()) checkComponent(registry, attribute.component, item, { path });
      return;
    case 'dynamiczone':
      for (const item of [value].flat()) {
        const uid = isRecord(item) ? item['__component'] : undefined;
        // An unknown component is a problem of the value, not of a key.
        if (typeof uid === 'string' && registry.components.has(uid))
          checkComponent(registry, uid, item, { path, namesItself: true });
      }
  }
}

/** `namesItself`: the component is in a dynamic zone, so `__component` names its kind. */
type Place = { readonly path: string; readonly namesItself?: boolean };

function checkComponent(
  registry: SchemaRegistry,
  uid: string,
  item: unknown,
  { path, namesItself = false }: Place,
): void {
  if (Array.isArray(item) && item.length > 0) throw invalidKey('0', path);
  if (!isRecord(item)) return;
  const { attributes } = componentOf(registry, uid);
  for (const [key, value] of Object.entries(item)) {
    const attribute = attributes.get(key);
    if (attribute !== undefined) checkValue(registry, attribute, value, `${path}.${key}`);
    else if (!ID_KEYS.has(key) && !(namesItself && key === '__component')) throw invalidKey(key, path);
  }
}

/**
 * A reference may be a whole entry from an answer. The other attributes in it have no effect. References in operations may have any keys,
 * as in Strapi: its admin panel sends some, such as `status`.
 */
function checkRelation(
  registry: SchemaRegistry,
  attribute: RelationAttribute,
  value: unknown,
  path: string,
): void {
  if (isRecord(value)) checkOperations(value, path);
  const target = registry.contentTypes.get(attribute.target);
  const hidden: readonly string[] = target?.privateTimes ?? [];
  for (const reference of [value].flat()) {
    if (Array.isArray(reference) && reference.length > 0) throw invalidKey('0', path);
    if (!isRecord(reference)) continue;
    for (const [key, inner] of Object.entries(reference)) {
      const known = target?.attributes.get(key);
      if (known !== undefined && !known.private) checkValue(registry, known, inner, `${path}.${key}`);
      else if (hidden.includes(key) || !isReferenceKey(key, reference === value)) throw invalidKey(key, path);
    }
  }
}

function checkOperations(value: Data, path: string): void {
  if (!RELATION_OPERATIONS.some((operation) => Object.hasOwn(value, operation))) return;
  // Strapi ignores operations next to an id without a message. Varve refuses them, so that they are not lost.
  for (const key of ID_KEYS) if (Object.hasOwn(value, key)) throw invalidKey(key, path);
  for (const item of [value['connect']].flat()) checkPosition(item, path);
}

/** Strapi ignores an unknown key and links at the end. */
function checkPosition(item: unknown, path: string): void {
  const position = isRecord(item) ? item['position'] : undefined;
  if (!isRecord(position)) return;
  for (const key of Object.keys(position)) if (!POSITION_KEYS.has(key)) throw invalidKey(key, path);
}

function isReferenceKey(key: string, mayOperate: boolean): boolean {
  if (ID_KEYS.has(key) || ANSWERED_KEYS.has(key)) return true;
  return mayOperate && (key === 'options' || RELATION_OPERATIONS.some((operation) => operation === key));
}

function invalidKey(key: string, path?: string | null): RequestError {
  const where = path === undefined || path === null || path === key ? '' : ` at ${path}`;
  return validationError(`Invalid key ${key}${where}`, {
    key,
    ...defined({ path }),
    source: 'body',
  });
}
