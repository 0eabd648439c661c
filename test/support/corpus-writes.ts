import type { ContentApi } from '../../services/http/api/content-api.ts';
import type { Attribute, ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Random } from './naive-random.ts';

type Json = Readonly<Record<string, unknown>>;

export type CorpusWriter = {
  /** Sends a random write. Resolves to false if it was refused, for example because there was nothing to publish. */
  write(): Promise<boolean>;
  /** Returns a random document of a type, or undefined if it has none. */
  pick(type: ContentType): string | undefined;
};

const LOCALES = ['en', 'it', 'de'];
const ROUTES = [
  ...(['update', 'update', 'update', 'update', 'draft', 'draft', 'draft', 'draft'] as const),
  ...(['create', 'create', 'remove', 'act', 'act', 'act'] as const),
] as const;
const ACTIONS = ['publish', 'unpublish', 'discard-draft'] as const;

/**
 * Creates random writes of every kind to the documents of the corpus. They use values and components of other documents, so that
 * filters still match some documents, and they link to documents that exist. They change the first documents of each type: `pageSize` of them.
 */
export async function createCorpusWriter(
  content: ContentApi,
  registry: SchemaRegistry,
  random: Random,
  pageSize = 100,
): Promise<CorpusWriter> {
  const types = [...registry.contentTypes.values()].filter(
    ({ uid, kind }) => uid.startsWith('api::') && kind === 'collectionType',
  );
  const known = new Map<string, Json[]>();
  for (const type of types) {
    const query = `populate=*&status=draft&locale=*&pagination[pageSize]=${pageSize}`;
    const { data } = JSON.parse(Buffer.from(await content.list(type, query)).toString()) as { data: Json[] };
    known.set(type.uid, data);
  }
  const pick = ({ uid }: { readonly uid: string }): string | undefined => {
    const rows = known.get(uid) ?? [];
    return rows.length === 0 ? undefined : (random.pick(rows)['documentId'] as string);
  };
  let created = 0;
  const newValue = (attribute: Attribute, other: Json): unknown => {
    if (attribute.kind === 'scalar' && (attribute.unique || attribute.name === 'slug'))
      return `new-${attribute.name}-${created++}`;
    if (attribute.kind !== 'relation') return withoutIds(other[attribute.name]);
    const documents = [pick({ uid: attribute.target }), pick({ uid: attribute.target })].filter(Boolean);
    if (!attribute.toMany) return random.chance(0.2) ? null : (documents[0] ?? null);
    return random.chance(0.5) ? { connect: documents.slice(0, 1) } : { set: documents };
  };
  const data = (type: ContentType, isNew: boolean): Json => {
    const other = random.pick(known.get(type.uid) ?? []);
    const attributes = [...type.attributes.values()].filter(
      (attribute) => !attribute.private && !(attribute.kind === 'relation' && attribute.media),
    );
    const chosen = attributes.filter(
      ({ required }) => (isNew && required) || random.chance(isNew ? 0.5 : 0.12),
    );
    return Object.fromEntries(chosen.map((attribute) => [attribute.name, newValue(attribute, other)]));
  };
  const create = async (type: ContentType, locale: string): Promise<void> => {
    const status = random.chance(0.5) ? 'status=draft' : '';
    const { documentId } = await content.create(type, status + locale, { data: data(type, true) });
    known.get(type.uid)?.push({ documentId });
  };
  const carryOut = async (type: ContentType): Promise<unknown> => {
    const locale = type.localized ? `&locale=${random.pick(LOCALES)}` : '';
    const documentId = pick(type);
    const route = random.pick(ROUTES);
    if (documentId === undefined || route === 'create') return create(type, locale);
    if (route === 'remove') return content.remove({ type, documentId }, locale);
    if (route === 'act') return content.act({ type, documentId }, random.pick(ACTIONS), locale);
    const status = route === 'draft' ? 'status=draft' : '';
    return content.update({ type, documentId }, status + locale, { data: data(type, false) });
  };
  return {
    pick,
    async write() {
      try {
        await carryOut(random.pick(types));
        return true;
      } catch (error) {
        if ((error as { code?: unknown }).code === undefined) throw error;
        return false;
      }
    },
  };
}

function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (name === 'id' ? [] : [[name, withoutIds(each)]])),
  );
}
