import { defined } from '../../shared/defined.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { Attribute, Model, RelationAttribute } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Data } from './parse-data.ts';
import { validationError } from './problem.ts';

/** Accepted in a body and without effect: the server sets them. */
const IGNORED = new Set(['publishedAt', 'locale']);
/** Known, but never written by a client: their path is themselves in Strapi's details. */
const RESTRICTED = new Set(['createdBy', 'updatedBy', 'createdAt', 'updatedAt', 'localizations']);
const OPERATIONS = ['connect', 'disconnect', 'set'] as const;
const REFERENCE_KEYS = new Set(['id', 'documentId', 'locale', 'position']);
const POSITION_KEYS = new Set(['start', 'end', 'before', 'after', 'locale', 'status']);

/**
 * Throws 400 `Invalid key …` for the first key of `data` that cannot be written: unknown ones at any depth, `id`,
 * `documentId` and the system attributes at the top (SEMANTICS section 13, cases `write.unknown`).
 */
export function refuseUnknownKeys(registry: SchemaRegistry, type: Model, data: Data): void {
  for (const key of ['id', 'documentId']) if (Object.hasOwn(data, key)) throw invalidKey(key);
  for (const [key, value] of Object.entries(data)) {
    const attribute = type.attributes.get(key);
    if (attribute !== undefined) checkValue(registry, attribute, value, key);
    else if (!IGNORED.has(key)) throw invalidKey(key, RESTRICTED.has(key) ? key : null);
  }
}

function checkValue(registry: SchemaRegistry, attribute: Attribute, value: unknown, path: string): void {
  switch (attribute.kind) {
    case 'scalar':
      return;
    case 'relation':
      checkRelation(registry, attribute, value, path);
      return;
    case 'component':
      for (const item of [value].flat()) checkComponent(registry, attribute.component, item, path);
      return;
    case 'dynamiczone':
      for (const item of [value].flat()) {
        const uid = isRecord(item) ? item['__component'] : undefined;
        // An unknown component is a problem of the value, not of a key.
        if (typeof uid === 'string' && registry.components.has(uid))
          checkComponent(registry, uid, item, path);
      }
  }
}

function checkComponent(registry: SchemaRegistry, uid: string, item: unknown, path: string): void {
  if (!isRecord(item)) return;
  const { attributes } = componentOf(registry, uid);
  for (const [key, value] of Object.entries(item)) {
    const attribute = attributes.get(key);
    if (attribute !== undefined) checkValue(registry, attribute, value, `${path}.${key}`);
    else if (key !== 'id' && key !== '__component') throw invalidKey(key, path);
  }
}

function checkRelation(
  registry: SchemaRegistry,
  attribute: RelationAttribute,
  value: unknown,
  path: string,
): void {
  const operations = isRecord(value) ? OPERATIONS.filter((operation) => Object.hasOwn(value, operation)) : [];
  if (!isRecord(value) || operations.length === 0) {
    checkReferences(registry, attribute, value, path);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key !== 'options' && !OPERATIONS.some((operation) => operation === key)) throw invalidKey(key, path);
  }
  checkObject(value['options'], new Set(['strict']), path);
  for (const operation of operations) checkReferences(registry, attribute, value[operation], path);
}

function checkReferences(
  registry: SchemaRegistry,
  attribute: RelationAttribute,
  value: unknown,
  path: string,
): void {
  // A media reference may be the whole file as it was answered.
  const more = attribute.media === undefined ? undefined : registry.contentTypes.get(attribute.target);
  for (const reference of [value].flat()) {
    if (!isRecord(reference)) continue;
    for (const key of Object.keys(reference)) {
      const known =
        REFERENCE_KEYS.has(key) || more?.attributes.has(key) || (more !== undefined && isSystemKey(key));
      if (!known) throw invalidKey(key, path);
    }
    checkObject(reference['position'], POSITION_KEYS, path);
  }
}

function isSystemKey(key: string): boolean {
  return key === 'createdAt' || key === 'updatedAt' || key === 'publishedAt';
}

function checkObject(value: unknown, known: ReadonlySet<string>, path: string): void {
  if (!isRecord(value)) return;
  for (const key of Object.keys(value)) if (!known.has(key)) throw invalidKey(key, path);
}

function invalidKey(key: string, path?: string | null): RequestError {
  const where = path === undefined || path === null || path === key ? '' : ` at ${path}`;
  return validationError(`Invalid key ${key}${where}`, {
    key,
    ...defined({ path }),
    source: 'body',
  });
}
