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
  const [first = '', ...rest] = path.split('/').filter(Boolean).map(decode);
  if (first === 'upload')
    return named(FILE_TYPE, idsIn(body), documentOfId, rest[0] === 'files' ? rest[1] : undefined);
  if (first === 'users') return named(USER_TYPE, idsIn(body), documentOfId, rest[0]);
  if (first === 'auth')
    return named(USER_TYPE, idsIn((body as { user?: unknown } | undefined)?.user), documentOfId, undefined);
  const type = typeOfPath(registry, first);
  if (type === undefined) return undefined;
  const answered = idsIn((body as { data?: unknown } | undefined)?.data);
  const [documentId] = type.kind === 'singleType' ? [] : rest;
  return named(
    type.uid,
    answered.length > 0 || documentId === undefined ? answered : [documentId],
    documentOfId,
    undefined,
  );
}

/** Returns the documents that a webhook of Strapi names. The rest of its payload is not used. */
export function documentsOfWebhook(
  registry: SchemaRegistry,
  body: unknown,
): readonly DocumentName[] | undefined {
  const { uid, entry, media } = (body ?? {}) as { uid?: unknown; entry?: unknown; media?: unknown };
  const type = media === undefined ? String(uid) : FILE_TYPE;
  if (!registry.contentTypes.has(type)) return undefined;
  return named(type, idsIn(media ?? entry), () => undefined, undefined);
}

function typeOfPath(registry: SchemaRegistry, segment: string): ContentType | undefined {
  const name = segment.toLowerCase();
  return [...registry.contentTypes.values()].find(
    ({ builtIn, kind, singularName, pluralName }) =>
      !builtIn && (kind === 'singleType' ? singularName : pluralName).toLowerCase() === name,
  );
}

function named(
  type: Uid,
  documentIds: readonly string[],
  documentOfId: DocumentOfId,
  id: string | undefined,
): readonly DocumentName[] | undefined {
  if (documentIds.length > 0) return documentIds.map((documentId) => ({ type, documentId }));
  const known = id === undefined || !/^\d{1,15}$/.test(id) ? undefined : documentOfId(type, Number(id));
  return known && [{ type, documentId: known.documentId }];
}

function idsIn(value: unknown): readonly string[] {
  return [value ?? []].flat().flatMap((one) => {
    const documentId = (one as { readonly documentId?: unknown }).documentId;
    return typeof documentId === 'string' && DOCUMENT_ID.test(documentId) ? [documentId] : [];
  });
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
