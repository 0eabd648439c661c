import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { type ContentType, FILE_TYPE, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

export type AnsweredWrite = {
  /** Path below the API's prefix, without a query. */
  readonly path: string;
  /** Parsed JSON of the answer; undefined if it has none. */
  readonly body: unknown;
};

type DocumentOfId = (type: Uid, id: number) => { readonly documentId: string } | undefined;

/** Returns the documents of a write that Strapi has answered; undefined if they cannot be derived from it. */
export function touchedDocuments(
  registry: SchemaRegistry,
  documentOfId: DocumentOfId,
  { path, body }: AnsweredWrite,
): readonly DocumentName[] | undefined {
  const [first = '', second, third] = path.split('/').filter(Boolean).map(decode);
  const ofNumber = (type: Uid, id = '') => {
    const known = /^\d{1,15}$/.test(id) ? documentOfId(type, Number(id)) : undefined;
    return known && [{ type, documentId: known.documentId }];
  };
  const { user, data } = (body ?? {}) as { user?: unknown; data?: unknown };
  if (first === 'upload')
    return named(FILE_TYPE, body) ?? ofNumber(FILE_TYPE, second === 'files' ? third : undefined);
  if (first === 'users') return named(USER_TYPE, body) ?? ofNumber(USER_TYPE, second);
  if (first === 'auth') return named(USER_TYPE, user);
  const type = typeOfPath(registry, first);
  if (type === undefined) return undefined;
  const documentId = type.kind === 'singleType' ? undefined : second;
  return named(type.uid, data) ?? (documentId === undefined ? undefined : [{ type: type.uid, documentId }]);
}

/** Returns the documents that a webhook of Strapi names. The rest of its payload is not used. */
export function documentsOfWebhook(
  registry: SchemaRegistry,
  body: unknown,
): readonly DocumentName[] | undefined {
  const { uid, entry, media } = (body ?? {}) as { uid?: unknown; entry?: unknown; media?: unknown };
  const type = media === undefined ? String(uid) : FILE_TYPE;
  return registry.contentTypes.has(type) ? named(type, media ?? entry) : undefined;
}

function typeOfPath(registry: SchemaRegistry, segment: string): ContentType | undefined {
  const name = segment.toLowerCase();
  return [...registry.contentTypes.values()].find(
    ({ builtIn, kind, singularName, pluralName }) =>
      !builtIn && (kind === 'singleType' ? singularName : pluralName).toLowerCase() === name,
  );
}

/** Returns the documents of an entry or a list of entries; undefined if none has a documentId. */
function named(type: Uid, value: unknown): readonly DocumentName[] | undefined {
  const names = [value ?? []].flat().flatMap((one) => {
    const documentId = (one as { readonly documentId?: unknown }).documentId;
    return typeof documentId === 'string' && DOCUMENT_ID.test(documentId) ? [{ type, documentId }] : [];
  });
  return names.length === 0 ? undefined : names;
}

/** Form of a documentId. It is checked because the id becomes part of a URL. */
const DOCUMENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
