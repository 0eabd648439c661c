import { isRecord } from '../json-record.ts';
import { type ContentType, FILE_TYPE, type Uid, USER_TYPE } from './content-type.ts';
import { parseContentType } from './parse-schema.ts';

/**
 * Content types that every server has, in the form of schema.json. Their options are those of Strapi's users-permissions and upload
 * plugins.
 */

/** Values of a user's `role`: Strapi's ids of the two roles that it creates. */
export const USER_ROLES = { authenticated: 1, public: 2 } as const;

const hiddenText = { type: 'string', private: true, configurable: false, searchable: false };
const flagOff = { type: 'boolean', default: false, configurable: false };

const USER_SCHEMA = {
  kind: 'collectionType',
  info: { singularName: 'user', pluralName: 'users', displayName: 'User' },
  options: { draftAndPublish: false },
  attributes: {
    username: { type: 'string', minLength: 3, unique: true, required: true, configurable: false },
    email: { type: 'email', minLength: 6, unique: true, required: true, configurable: false },
    provider: { type: 'string', configurable: false },
    password: { type: 'password', minLength: 6, private: true, configurable: false, searchable: false },
    resetPasswordToken: hiddenText,
    confirmationToken: hiddenText,
    confirmed: flagOff,
    blocked: flagOff,
    // One of USER_ROLES. Strapi has a relation here, which callers may read only with a separate right.
    role: { type: 'integer', private: true, configurable: false },
    // Data of the login (see shared/access/login-record.ts).
    varveLogin: { type: 'json', private: true, configurable: false, searchable: false },
  },
};

const fixedText = { type: 'text', configurable: false };
const fixedString = { type: 'string', configurable: false };
const requiredString = { type: 'string', required: true, configurable: false };
const fixedInteger = { type: 'integer', configurable: false };
const fixedJson = { type: 'json', configurable: false };

const FILE_SCHEMA = {
  kind: 'collectionType',
  info: { singularName: 'file', pluralName: 'files', displayName: 'File' },
  options: { draftAndPublish: false },
  attributes: {
    name: requiredString,
    alternativeText: fixedText,
    caption: fixedText,
    focalPoint: fixedJson,
    width: fixedInteger,
    height: fixedInteger,
    formats: fixedJson,
    hash: requiredString,
    ext: fixedString,
    mime: requiredString,
    size: { type: 'decimal', required: true, configurable: false },
    url: { type: 'text', required: true, configurable: false },
    previewUrl: fixedText,
    provider: requiredString,
    provider_metadata: fixedJson,
    // Path of a file in Strapi's media library, stored by an import.
    folderPath: hiddenText,
  },
};

const BUILT_IN_SCHEMAS = new Map<Uid, typeof USER_SCHEMA | typeof FILE_SCHEMA>([
  [USER_TYPE, USER_SCHEMA],
  [FILE_TYPE, FILE_SCHEMA],
]);

/** Content types of users and files. */
export const BUILT_IN_TYPES: readonly ContentType[] = [...BUILT_IN_SCHEMAS].map(([uid, json]) =>
  builtInType(uid, json),
);

/** Returns the built-in types in the form of schema files. */
export function builtInSchemas() {
  return [...BUILT_IN_SCHEMAS].map(([uid, json]) => ({
    uid,
    namespace: uid.slice(0, uid.lastIndexOf('.')),
    json,
  }));
}

/** Returns whether every server has the type. */
export function isBuiltInType(uid: Uid): boolean {
  return BUILT_IN_SCHEMAS.has(uid);
}

/** Returns the attributes that the built-in type itself does not have. */
export function addedAttributes(uid: Uid, attributes: object): { readonly [name: string]: unknown } {
  const own = BUILT_IN_SCHEMAS.get(uid)?.attributes ?? {};
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !Object.hasOwn(own, name)));
}

/**
 * Returns the schema of a built-in type with the attributes of a project's extension. Of the type's own attributes the extension changes
 * only the privacy. Returns undefined if no built-in type has the uid, or the extension has no attributes.
 */
export function extendedSchema(uid: Uid, extension: unknown): object | undefined {
  const schema = BUILT_IN_SCHEMAS.get(uid);
  const { attributes: added, options } = (extension ?? {}) as { attributes?: unknown; options?: unknown };
  if (schema === undefined || !isRecord(added)) return undefined;
  const hidden = hiddenNames(schema.attributes, added, options);
  return {
    ...schema,
    ...(hidden.length > 0 && { options: { ...schema.options, privateAttributes: hidden } }),
    attributes: { ...schema.attributes, ...added, ...schema.attributes },
  };
}

/** Returns whether an extended schema makes attributes private that the built-in type shows. */
export function hidesMore(extended: object | undefined): boolean {
  return isRecord(extended) && isRecord(extended['options']) && 'privateAttributes' in extended['options'];
}

/** Returns the names that an extension makes private, without own attributes that always are. */
function hiddenNames(own: object, added: Readonly<Record<string, unknown>>, options: unknown): unknown[] {
  const given = isRecord(options) ? options['privateAttributes'] : undefined;
  const isPrivate = (value: unknown) => isRecord(value) && Boolean(value['private']);
  const declared = Object.keys(own).filter((name) => isPrivate(added[name]));
  const always = new Set<unknown>(
    Object.entries(own).flatMap(([name, raw]) => (isPrivate(raw) ? [name] : [])),
  );
  return [...new Set([...(Array.isArray(given) ? given : []), ...declared])].filter(
    (name) => !always.has(name),
  );
}

function builtInType(uid: Uid, json: unknown): ContentType {
  const type = parseContentType(json, (path, message) => {
    throw new Error(`built-in type ${uid}, ${path.join('.')}: ${message}`);
  });
  if (type === undefined) throw new Error(`built-in type ${uid} does not parse`);
  return { uid, ...type, builtIn: true };
}
