import { isRecord } from '../../shared/json-record.ts';
import { FILE_TYPE, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import {
  type Archive,
  type ArchiveFile,
  archiveFiles,
  archivePartOf,
  type LineShape,
  parsedJson,
  readJsonLines,
} from './archive.ts';
import type { ImportNotes } from './import-notes.ts';
import type { StagedRow, Staging } from './staging.ts';

export type StageOptions = {
  readonly archive: Archive;
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  readonly staging: Staging;
  readonly notes: ImportNotes;
  /** Stores a file of the media library. */
  readonly onAsset: (file: ArchiveFile) => Promise<void>;
};

/** Facts about an archive besides its rows and links. */
export type ArchiveFacts = {
  readonly version: string | undefined;
  /** Number of lines with rows and links. */
  readonly lines: number;
  /** Values of settings of the users-permissions plugin, by key. */
  readonly settings: ReadonlyMap<string, unknown>;
};

/** Types whose rows are staged although Varve does not serve them: a user's role is among its links. */
export const ROLE_TYPE: Uid = 'plugin::users-permissions.role';
export const PERMISSION_TYPE: Uid = 'plugin::users-permissions.permission';
const STAGED: readonly Uid[] = [ROLE_TYPE, PERMISSION_TYPE];

/** Types of Strapi's admin panel and its own plugins, whose absence is not reported. */
const OF_STRAPI = /^(admin::|plugin::(i18n|upload|content-releases|review-workflows|users-permissions)\.)/;

type Entity = Pick<StagedRow, 'type' | 'id' | 'data'>;

type End = {
  readonly type: Uid;
  readonly ref: number | string;
  readonly field?: string;
  readonly pos?: number | null;
};
type Link = { readonly kind: string; readonly left: End; readonly right: End };

const ENTITY: LineShape<Entity> = {
  name: 'a row with `type`, `id` and `data`',
  fits: (line): line is Entity =>
    isRecord(line) &&
    typeof line['type'] === 'string' &&
    Number.isSafeInteger(line['id']) &&
    isRecord(line['data']),
};
const LINK: LineShape<Link> = {
  name: 'a link with `left` and `right`',
  fits: (line): line is Link => isRecord(line) && isRecord(line['left']) && isRecord(line['right']),
};
const SETTING: LineShape<StoredSetting> = {
  name: 'a setting',
  fits: (line): line is StoredSetting => isRecord(line),
};

/** Reads an archive once, from its beginning to its end, into the staging file. */
export async function stageArchive(options: StageOptions): Promise<ArchiveFacts> {
  let version: string | undefined;
  let lines = 0;
  const settings = new Map<string, unknown>();
  for await (const file of archiveFiles(options.archive)) {
    const part = archivePartOf(file.name);
    if (part === 'entities') {
      for await (const row of readJsonLines(file, ENTITY)) {
        lines++;
        stageRow(options, row);
      }
    } else if (part === 'links') {
      for await (const link of readJsonLines(file, LINK)) {
        lines++;
        stageLink(options, link);
      }
    } else if (part === 'configuration') {
      for await (const line of readJsonLines(file, SETTING)) {
        checkDefaultLocale(options, line);
        noteSetting(settings, line);
      }
    } else if (part === 'assets/uploads') await options.onAsset(file);
    else if (file.name === 'metadata.json') version = await readVersion(file);
  }
  return { version, lines, settings };
}

function stageRow(
  { registry, defaultLocale, staging, notes }: StageOptions,
  { type, id, data }: Entity,
): void {
  const definition = registry.contentTypes.get(type);
  const isStaged = STAGED.includes(type);
  if (definition === undefined && !isStaged) {
    const isOfStrapi = OF_STRAPI.test(type);
    notes.add(type, `omitted: ${isOfStrapi ? "belongs to Strapi's admin panel" : 'the type is not served'}`);
    return;
  }
  const { locale, publishedAt } = data;
  const isDraft = publishedAt === null || publishedAt === undefined;
  const version = definition?.draftAndPublish === true ? (isDraft ? 'draft' : 'published') : 'live';
  const isLocalized = definition?.localized === true;
  if (!isLocalized && typeof locale === 'string' && locale !== defaultLocale) {
    notes.add(type, `omitted: the type has no locales, and the row has ${locale}`, `row ${id}`);
    return;
  }
  const isNew = staging.addRow({
    type,
    id,
    data,
    version,
    documentId: documentIdOf(type, id, data),
    locale: isLocalized ? String(locale ?? defaultLocale) : null,
  });
  if (isNew && !hasDocumentId(data)) notes.add(type, 'got a documentId: the row has none', `row ${id}`);
  if (!isNew) notes.add(type, 'omitted: an earlier row of the archive has the same id', `row ${id}`);
}

function hasDocumentId({ documentId }: Entity['data']): boolean {
  return typeof documentId === 'string' && documentId !== '';
}

/** Returns the row's documentId. Rows of Strapi 4 have none, and get one that another import of the archive gives them again. */
function documentIdOf(type: string, id: number, data: Entity['data']): string {
  return hasDocumentId(data) ? String(data['documentId']) : derivedDocumentId('archive', type, String(id));
}

function stageLink({ registry, staging, notes }: StageOptions, { kind, left, right }: Link): void {
  if (left.field === 'localizations') {
    if (left.type === right.type) staging.joinLocales(left.type, Number(left.ref), Number(right.ref));
    return;
  }
  const isMorph = kind === 'relation.morph';
  if (isMorph && left.type !== FILE_TYPE) {
    notes.add(
      `${left.type} ${left.field}`,
      'omitted: a polymorphic relation is not served',
      `row ${left.ref}`,
    );
    return;
  }
  const [owner, target] = isMorph ? [right, left] : [left, right];
  if (owner.field === undefined) return;
  if (isStagedLink(owner)) {
    staging.addLink(stagedLink(owner, owner.field, target));
    return;
  }
  const model = registry.contentTypes.get(owner.type) ?? registry.components.get(owner.type);
  const attribute = model?.attributes.get(owner.field);
  if (model === undefined && OF_STRAPI.test(owner.type)) return;
  if (owner.type === FILE_TYPE) return;
  if (attribute?.kind !== 'relation') {
    notes.add(`${owner.type} ${owner.field}`, 'omitted: the relation is not served', `row ${owner.ref}`);
    return;
  }
  // If the two sides of a relation do not fit each other, Varve may treat the other side as the owner.
  if (attribute.mappedBy === undefined) staging.addLink(stagedLink(owner, owner.field, target));
  else staging.addLink(stagedLink(target, attribute.mappedBy, owner));
}

function isStagedLink({ type, field }: End): boolean {
  return field === 'role' && (type === USER_TYPE || type === PERMISSION_TYPE);
}

function stagedLink(owner: End, attribute: string, target: End) {
  return {
    ownerType: owner.type,
    ownerId: Number(owner.ref),
    attribute,
    targetType: target.type,
    targetId: Number(target.ref),
    ownerPosition: owner.pos ?? null,
    targetPosition: target.pos ?? null,
  };
}

type StoredSetting = {
  readonly type?: string;
  readonly value?: { readonly key?: string; readonly value?: unknown };
};

function noteSetting(settings: Map<string, unknown>, line: StoredSetting): void {
  const { key = '', value } = line.value ?? {};
  if (key.startsWith('plugin_users-permissions_')) settings.set(key, value);
}

function checkDefaultLocale({ defaultLocale, registry }: StageOptions, line: StoredSetting): void {
  const { key, value } = line.value ?? {};
  if (key !== 'plugin_i18n_default_locale' || value === defaultLocale) return;
  if (![...registry.contentTypes.values()].some(({ localized }) => localized)) return;
  throw new Error(
    `the default locale of the archive is ${String(value)}, and of this server ${defaultLocale}: pass --default-locale ${String(value)}`,
  );
}

async function readVersion({ name, content }: ArchiveFile): Promise<string | undefined> {
  const bytes = Buffer.concat(await Array.fromAsync(content));
  const metadata = parsedJson(new TextDecoder().decode(bytes), name);
  const strapi = isRecord(metadata) ? metadata['strapi'] : undefined;
  const version = isRecord(strapi) ? strapi['version'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
