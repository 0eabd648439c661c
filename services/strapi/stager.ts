import { localeProblem } from '../../shared/locale-form.ts';
import { FILE_TYPE, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import { archivedText } from './archived-text.ts';
import type { ImportNotes } from './import-notes.ts';
import type { StagedRow, Staging } from './staging.ts';
import { withoutDeepValues } from './without-deep-values.ts';

export type StagerOptions = {
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  readonly staging: Staging;
  readonly notes: ImportNotes;
};

/** Row of Strapi in the form of its archives. */
export type Entity = Pick<StagedRow, 'type' | 'id' | 'data'>;

type End = {
  readonly type: Uid;
  readonly ref: number;
  readonly field?: string;
  readonly pos?: number | null;
};

/** Link of Strapi in the form of its archives. */
export type Link = {
  readonly kind: string;
  readonly left: { readonly [Name in keyof End]?: unknown };
  readonly right: { readonly [Name in keyof End]?: unknown };
};

/** StrapiSetting of Strapi in the form of its archives. */
export type StrapiSetting = {
  readonly type?: string;
  readonly value?: { readonly key?: string; readonly value?: unknown };
};

/** Rows and links that a stager was given. */
export type SourceCounts = { readonly rows: ReadonlyMap<string, number>; readonly links: number };

/** Puts the rows and links of Strapi into the staging file, in any order. */
export type Stager = {
  row(entity: Entity): void;
  link(link: Link): void;
  setting(setting: StrapiSetting): void;
  counts(): SourceCounts;
  /** Returns the values of settings of the users-permissions plugin, by key. */
  settings(): ReadonlyMap<string, unknown>;
};

/** Types whose rows are staged although Varve does not serve them: a user's role is among its links. */
export const ROLE_TYPE: Uid = 'plugin::users-permissions.role';
export const PERMISSION_TYPE: Uid = 'plugin::users-permissions.permission';
export const STAGED_TYPES: readonly Uid[] = [ROLE_TYPE, PERMISSION_TYPE];

/** Types of Strapi's admin panel and its own plugins, whose absence is not reported. */
const OF_STRAPI = /^(admin::|plugin::(i18n|upload|content-releases|review-workflows|users-permissions)\.)/;

/** Creates a stager for one import. */
export function createStager(options: StagerOptions): Stager {
  const rows = new Map<string, number>();
  const settings = new Map<string, unknown>();
  let links = 0;
  return {
    row(entity) {
      rows.set(entity.type, (rows.get(entity.type) ?? 0) + 1);
      stageRow(options, entity);
    },
    link(link) {
      links++;
      stageLink(options, link);
    },
    setting(setting) {
      checkDefaultLocale(options, setting);
      const key = archivedText(setting.value?.key);
      if (key.startsWith('plugin_users-permissions_')) settings.set(key, setting.value?.value);
    },
    counts: () => ({ rows, links }),
    settings: () => settings,
  };
}

function stageRow(options: StagerOptions, { type, id, data: given }: Entity): void {
  const { registry, defaultLocale, staging, notes } = options;
  const definition = registry.contentTypes.get(type);
  if (definition === undefined && !STAGED_TYPES.includes(type)) {
    const isOfStrapi = OF_STRAPI.test(type);
    notes.omitRow(type, isOfStrapi ? "belongs to Strapi's admin panel" : 'the type is not served');
    return;
  }
  const { publishedAt } = given;
  const locale = given['locale'] === '' ? null : (given['locale'] ?? null);
  const isDraft = publishedAt === null || publishedAt === undefined;
  const version = definition?.draftAndPublish === true ? (isDraft ? 'draft' : 'published') : 'live';
  const isLocalized = definition?.localized === true;
  const problem = isLocalized ? unnameable(locale) : foreignLocale(locale, defaultLocale);
  if (problem !== undefined) {
    notes.omitRow(type, problem, id);
    return;
  }
  const data = definition === undefined ? given : withoutDeepValues(options, definition, id, given);
  const isNew = staging.addRow({
    type,
    id,
    data,
    version,
    documentId: documentIdOf(type, id, data),
    locale: isLocalized ? String(locale ?? defaultLocale) : null,
  });
  if (isNew && !hasDocumentId(data)) notes.add(type, 'got a documentId: the row has none', `row ${id}`);
  if (!isNew) notes.omitRow(type, 'an earlier row of the archive has the same id', id);
}

const SHORT = 40;

/** Returns why a row of a localized type is not stored: no request could ask for its locale. */
function unnameable(locale: unknown): string | undefined {
  if (locale === null || (typeof locale === 'string' && localeProblem(locale) === undefined))
    return undefined;
  const text = typeof locale === 'string' ? locale : JSON.stringify(locale);
  return `no request can name its locale ${text.slice(0, SHORT)}`;
}

function foreignLocale(locale: unknown, defaultLocale: string): string | undefined {
  if (typeof locale !== 'string' || locale === defaultLocale) return undefined;
  return `the type has no locales, and the row has ${locale.slice(0, SHORT)}`;
}

function hasDocumentId({ documentId }: Entity['data']): boolean {
  return typeof documentId === 'string' && documentId !== '';
}

/** Returns the row's documentId. Rows of Strapi 4 have none, and get one that another import of the archive gives them again. */
function documentIdOf(type: string, id: number, data: Entity['data']): string {
  return hasDocumentId(data) ? String(data['documentId']) : derivedDocumentId('archive', type, String(id));
}

function stageLink({ registry, staging, notes }: StagerOptions, { kind, left, right }: Link): void {
  if (left.field === 'localizations') {
    if (isRow(left) && isRow(right) && left.type === right.type)
      staging.joinLocales(left.type, left.ref, right.ref);
    return;
  }
  if (!isRow(left) || !isRow(right)) {
    const what = [left.type, left.field].filter((each) => typeof each === 'string').join(' ');
    notes.add(what || 'a link', 'omitted: an end of the link names no row');
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
  if (typeof owner.field !== 'string') return;
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

/** Returns whether an end names a row. Strapi 5 names documents in the links of `localizations`, which its rows have themselves. */
function isRow(end: Link['left']): end is End {
  return typeof end.type === 'string' && Number.isSafeInteger(end.ref);
}

function isStagedLink({ type, field }: End): boolean {
  return field === 'role' && (type === USER_TYPE || type === PERMISSION_TYPE);
}

function stagedLink(owner: End, attribute: string, target: End) {
  return {
    ownerType: owner.type,
    ownerId: owner.ref,
    attribute,
    targetType: target.type,
    targetId: target.ref,
    ownerPosition: typeof owner.pos === 'number' ? owner.pos : null,
    targetPosition: typeof target.pos === 'number' ? target.pos : null,
  };
}

function checkDefaultLocale({ defaultLocale, registry }: StagerOptions, setting: StrapiSetting): void {
  const { key, value } = setting.value ?? {};
  if (key !== 'plugin_i18n_default_locale' || typeof value !== 'string' || value === defaultLocale) return;
  if (![...registry.contentTypes.values()].some(({ localized }) => localized)) return;
  throw new Error(
    `the default locale of the archive is ${value}, and of this server ${defaultLocale}: pass --default-locale ${value}`,
  );
}
