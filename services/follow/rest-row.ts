import type { LinkTarget } from '../../shared/document/events.ts';
import type { RowStamp } from '../../shared/document/recorded-rows.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { SourceRefused, type SourceRow, type WorldLists } from './source.ts';

/** Row in an answer of Strapi's REST API. */
export type RestRow = { readonly [name: string]: unknown };

/** Reads the stamp of a row. Throws SourceRefused for a value that is not a row of the type. */
export function readStamp(
  type: ContentType,
  version: RowStamp['version'],
  defaultLocale: string,
  row: RestRow,
): RowStamp {
  const { id, documentId, updatedAt, publishedAt, locale } = row;
  if (typeof id !== 'number' || typeof documentId !== 'string' || typeof updatedAt !== 'string')
    throw new SourceRefused(200, `Strapi answered a row of ${type.uid} without id, documentId or updatedAt`);
  if (version !== 'draft' && typeof publishedAt !== 'string')
    throw new SourceRefused(200, `Strapi answered a published row of ${type.uid} without publishedAt`);
  return {
    type: type.uid,
    documentId,
    version,
    id,
    updatedAt,
    locale: type.localized ? String(locale ?? defaultLocale) : null,
    publishedAt: version === 'draft' ? null : String(publishedAt),
  };
}

/** Reads a complete row from an answer in one world. */
export function readRow(type: ContentType, stamp: RowStamp, row: RestRow, world: World): SourceRow {
  const { documentId, locale, version, id } = stamp;
  return { type: type.uid, id, documentId, locale, version, data: row, lists: readLists(type, row, world) };
}

/** Joins both answers for a row without versions. A list that only the draft world's answer has is that of both worlds. */
export function joinWorlds(draft: SourceRow, published: SourceRow | undefined): SourceRow {
  const lists = new Map<string, WorldLists>();
  for (const [attribute, shown] of draft.lists)
    lists.set(attribute, {
      draft: shown.draft,
      published: published?.lists.get(attribute)?.published ?? shown.draft,
    });
  return { ...draft, lists };
}

function readLists(type: ContentType, row: RestRow, world: World): ReadonlyMap<string, WorldLists> {
  const lists = new Map<string, WorldLists>();
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'relation' || !(attribute.name in row)) continue;
    const targets = readTargets(row[attribute.name]);
    lists.set(attribute.name, { draft: [], published: [], [world]: targets });
  }
  return lists;
}

/** Returns the targets of a relation in order, each document and locale once. */
export function readTargets(value: unknown): readonly LinkTarget[] {
  const found = new Map<string, LinkTarget>();
  for (const target of [value ?? []].flat()) {
    const { documentId, locale } = target as { readonly documentId?: unknown; readonly locale?: unknown };
    if (typeof documentId !== 'string') continue;
    const read = { documentId, locale: typeof locale === 'string' ? locale : null };
    found.set(targetKey(read), read);
  }
  return [...found.values()];
}

/** Returns a key for maps of link targets. */
export function targetKey({ documentId, locale }: LinkTarget): string {
  return `${documentId} ${locale ?? ''}`;
}
