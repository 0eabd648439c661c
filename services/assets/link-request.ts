import type { ContentGraphReader, Entry } from '../../shared/document/entry.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType, RelationAttribute } from '../../shared/schema/content-type.ts';
import { allowsMedia } from '../../shared/schema/media-kind.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ReceivedFile } from './receive-upload.ts';

/** Media attribute of an entry that files are linked with. */
export type LinkRequest = {
  readonly type: ContentType;
  readonly attribute: RelationAttribute;
  readonly documentId: string;
  readonly locale: string | null;
  /** True to change only the draft row. */
  readonly draftOnly: boolean;
};

export type LinkScope = {
  readonly registry: SchemaRegistry;
  readonly graph: ContentGraphReader;
  readonly defaultLocale: string;
};

const NAMES = ['ref', 'refId', 'field'] as const;

/**
 * Resolves the fields `ref` (a content type's uid), `refId` (documentId, or the numeric id of a row) and `field` of a form. Returns
 * undefined if the form has none of them. `locale` is the request's. Throws 400.
 */
export function resolveLinkRequest(
  scope: LinkScope,
  fields: ReadonlyMap<string, readonly unknown[]>,
  locale: unknown,
): LinkRequest | undefined {
  const [ref, refId, field] = NAMES.map((name) => fields.get(name)?.at(-1));
  if (ref === undefined && refId === undefined && field === undefined) return undefined;
  const given = { ref, refId, field };
  for (const name of NAMES) {
    if (typeof given[name] === 'string' && given[name] !== '') continue;
    throw refusal(name, given[name], 'a text: ref, refId and field go together');
  }
  const type = contentType(scope.registry, String(ref));
  const attribute = type.attributes.get(String(field));
  if (attribute?.kind !== 'relation' || attribute.media === undefined || attribute.private) {
    throw refusal('field', field, mediaNames(type));
  }
  return { type, attribute, ...entryOf(scope, type, String(refId), locale) };
}

/** Throws 400 for the first file that the attribute does not accept. */
export function refuseOtherFiles({ attribute }: LinkRequest, files: readonly ReceivedFile[]): void {
  const { multiple, allowedTypes } = attribute.media ?? { multiple: true, allowedTypes: [] };
  const wrong = files.find(({ media }) => !allowsMedia(allowedTypes, media.mime));
  if (wrong !== undefined) {
    const message = `${attribute.name} accepts only ${allowedTypes.join(', ')}: ${wrong.fileName} is of type ${wrong.media.mime}`;
    throw new RequestError('invalid-body', message, {
      path: attribute.name,
      found: wrong.media.mime,
      accepted: allowedTypes,
    });
  }
  if (!multiple && files.length > 1) {
    const message = `${attribute.name} accepts one file`;
    throw new RequestError('invalid-body', message, { path: attribute.name, found: files.length });
  }
}

function contentType(registry: SchemaRegistry, uid: string): ContentType {
  const type = registry.contentTypes.get(uid);
  if (type !== undefined) return type;
  const withMedia = [...registry.contentTypes.values()].filter((one) => mediaNames(one).length > 0);
  const accepted = withMedia.map((one) => one.uid);
  throw refusal('ref', uid, accepted);
}

function entryOf(scope: LinkScope, type: ContentType, refId: string, locale: unknown) {
  const row = /^\d{1,15}$/.test(refId)
    ? rowOfId(scope.graph, type, Number(refId))
    : rowOfDocument(scope, type, refId, locale);
  if (row === undefined) throw refusal('refId', refId, `a documentId or numeric id of ${type.uid}`);
  return { documentId: row.documentId, locale: row.locale, draftOnly: row.version === 'draft' };
}

/** Returns the row with a numeric id, which names the draft or the published row, as in Strapi. */
function rowOfId(graph: ContentGraphReader, type: ContentType, id: number): Entry | undefined {
  const document = graph.documentOfId(type.uid, id);
  if (document === undefined) return undefined;
  const rows = graph
    .entries(type.uid, document.documentId)
    .filter(({ locale }) => locale === document.locale);
  // The id of an earlier publication still means the published row.
  return rows.find((row) => row.id === id) ?? rows.find((row) => row.version !== 'draft') ?? rows[0];
}

function rowOfDocument(
  { graph, defaultLocale }: LinkScope,
  type: ContentType,
  documentId: string,
  locale: unknown,
): Entry | undefined {
  const wanted = typeof locale === 'string' && locale !== '' ? locale : defaultLocale;
  const rows = graph.entries(type.uid, documentId).filter((row) => !type.localized || row.locale === wanted);
  return rows.find((row) => row.version !== 'draft') ?? rows[0];
}

function mediaNames(type: ContentType): string[] {
  return [...type.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' && attribute.media !== undefined ? [attribute.name] : [],
  );
}

function refusal(name: string, found: unknown, accepted: unknown): RequestError {
  const text = typeof found === 'string' ? `"${found}"` : String(found);
  return new RequestError('invalid-body', `Invalid ${name}: ${text}`, { path: name, found, accepted });
}
