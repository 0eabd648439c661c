import type { RowStamp } from '../../shared/document/recorded-rows.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import {
  documentFilter,
  isBareList,
  pathOf,
  populateWhole,
  type Query,
  queryText,
  stampFields,
} from './rest-query.ts';
import { joinWorlds, type RestRow, readRow, readStamp } from './rest-row.ts';
import { type NewestPage, type Source, SourceRefused, type SourceRow } from './source.ts';
import type { StrapiHttp } from './strapi-http.ts';

/** Strapi's default for `maxLimit`. A Strapi may be configured with a smaller one. */
const PAGE = 100;

type Version = RowStamp['version'];

/** Creates the source that reads a Strapi through its REST API. */
export function createRestSource(http: StrapiHttp, registry: SchemaRegistry, locale: string): Source {
  const api: Api = { http, registry, locale };
  const singles = createSingles(api);
  return {
    requests: http.requests,
    content: (url) => http.bytes(url),
    async stampsAfter(uid, version, after) {
      const type = contentTypeOf(registry, uid);
      if (type.kind === 'singleType')
        return (await singles.stamps(type, version)).filter(({ id }) => id > after);
      const query: Query = [...stampFields(type), ['sort', 'id'], ...idsAbove(after)];
      return stampsOf(api, type, version, await list(api, type, [...query, ...inWorld(type, version)]));
    },
    async newest(uid, version, order, page): Promise<NewestPage> {
      const type = contentTypeOf(registry, uid);
      if (type.kind === 'singleType') {
        const stamps = page === 1 ? await singles.stamps(type, version) : [];
        return { stamps, total: undefined };
      }
      const query: Query = [...stampFields(type), ['sort', `${order}:desc`], ...inWorld(type, version)];
      const found = await list(api, type, query, page);
      return { stamps: stampsOf(api, type, version, found), total: found.total };
    },
    async documents(uid, documentIds) {
      const type = contentTypeOf(registry, uid);
      if (documentIds.length === 0) return [];
      if (type.kind === 'singleType') return singles.rows(type, documentIds);
      return inBothWorlds(registry, type, (world) => readRows(api, type, documentIds, world));
    },
    async defaultLocale() {
      return (await readLocales(http))?.find(({ isDefault }) => isDefault)?.code;
    },
  };
}

type Api = { readonly http: StrapiHttp; readonly registry: SchemaRegistry; readonly locale: string };
type Locales = readonly { readonly code: string; readonly isDefault?: boolean }[];
type Rows = {
  readonly rows: readonly RestRow[];
  readonly pageSize: number;
  readonly total: number | undefined;
};

/** Returns the locales of Strapi; undefined if the token lacks the right to read them. */
async function readLocales(http: StrapiHttp): Promise<Locales | undefined> {
  const found = await http.json('/i18n/locales').catch(unlessRefused);
  if (found === undefined || isLocales(found)) return found;
  throw new SourceRefused(200, "/i18n/locales: Strapi's answer is not a list of locales");
}

function isLocales(value: unknown): value is Locales {
  return Array.isArray(value) && value.every((one) => isRecord(one) && typeof one['code'] === 'string');
}

function unlessRefused(error: unknown): undefined {
  if (error instanceof SourceRefused) return undefined;
  throw error;
}

function idsAbove(after: number): Query {
  return after <= 0 ? [] : [['filters[id][$gt]', String(after)]];
}

function inWorld(type: ContentType, version: Version): Query {
  const status: Query = type.draftAndPublish ? [['status', version]] : [];
  return [...status, ...(type.localized ? [['locale', '*'] as const] : [])];
}

/** Reads a page of rows. Strapi does not count the rows of bare lists. */
async function list({ http }: Api, type: ContentType, query: Query, page = 1): Promise<Rows> {
  if (isBareList(type)) {
    const paged: Query = [...query, ['start', String((page - 1) * PAGE)], ['limit', String(PAGE)]];
    const rows = rowsOf(type, await http.json(`${pathOf(type)}?${queryText(paged)}`));
    // The API's limit may be smaller than the page that was asked for.
    return { rows, pageSize: Math.max(1, rows.length), total: undefined };
  }
  const paged: Query = [
    ...query,
    ['pagination[page]', String(page)],
    ['pagination[pageSize]', String(PAGE)],
    ['pagination[withCount]', 'true'],
  ];
  const answer = await http.json(`${pathOf(type)}?${queryText(paged)}`);
  const { data, meta } = (answer ?? {}) as { data?: unknown; meta?: { pagination?: Pagination } };
  const rows = rowsOf(type, data);
  return { rows, pageSize: meta?.pagination?.pageSize ?? PAGE, total: meta?.pagination?.total };
}

type Pagination = { readonly pageSize?: number; readonly total?: number };

function rowsOf({ uid }: ContentType, data: unknown): readonly RestRow[] {
  if (Array.isArray(data)) return data as readonly RestRow[];
  throw new SourceRefused(404, `Strapi has no list of ${uid}`);
}

function stampsOf(api: Api, type: ContentType, version: Version, { rows }: Rows): readonly RowStamp[] {
  return rows.map((row) => readStamp(type, version, api.locale, row));
}

async function readRows(
  api: Api,
  type: ContentType,
  documentIds: readonly string[],
  world: World,
): Promise<readonly SourceRow[]> {
  const version = type.draftAndPublish ? world : 'live';
  const status: Query = isBareList(type) ? [] : [['status', world]];
  const whole: Query = [
    ...documentFilter(documentIds),
    ...status,
    ...(type.localized ? [['locale', '*'] as const] : []),
    ...populateWhole(api.registry, type),
    ['sort', 'id'],
  ];
  const found: SourceRow[] = [];
  for (;;) {
    const page = await list(api, type, [...whole, ...idsAbove(found.at(-1)?.id ?? 0)]);
    for (const row of page.rows)
      found.push(readRow(type, readStamp(type, version, api.locale, row), row, world));
    if (page.rows.length === 0 || page.rows.length < page.pageSize) return found;
  }
}

/** Reads rows with their relations in both worlds. These are equal if neither the rows nor their targets have versions. */
async function inBothWorlds(
  registry: SchemaRegistry,
  type: ContentType,
  read: (world: World) => Promise<readonly SourceRow[]>,
): Promise<readonly SourceRow[]> {
  if (type.draftAndPublish) return (await Promise.all([read('draft'), read('published')])).flat();
  const rows = await read('draft');
  const differing = linksToVersions(registry, type) ? await read('published') : [];
  const published = new Map(differing.map((row) => [row.id, row]));
  return rows.map((row) => joinWorlds(row, published.get(row.id)));
}

/** Returns whether a type without versions has relations whose targets differ between the worlds. */
function linksToVersions(registry: SchemaRegistry, type: ContentType): boolean {
  return [...type.attributes.values()].some(
    (attribute) =>
      attribute.kind === 'relation' && registry.contentTypes.get(attribute.target)?.draftAndPublish === true,
  );
}

/** Reads single types. They have no lists, so each version and locale is a request. */
function createSingles(api: Api) {
  const { http, registry, locale } = api;
  const localesOf = async (type: ContentType): Promise<readonly string[]> => {
    if (!type.localized) return [locale];
    return (await readLocales(http))?.map(({ code }) => code) ?? [locale];
  };
  const readAll = async (type: ContentType, world: World): Promise<readonly SourceRow[]> => {
    const version = type.draftAndPublish ? world : 'live';
    const found = new Map<number, SourceRow>();
    for (const each of await localesOf(type)) {
      const query: Query = [
        ['status', world],
        ...(type.localized ? [['locale', each] as const] : []),
        ...populateWhole(registry, type),
      ];
      const answer = await http.json(`${pathOf(type)}?${queryText(query)}`);
      const row = (answer as { readonly data?: RestRow | null } | undefined)?.data;
      if (row === null || row === undefined) continue;
      const stamp = readStamp(type, version, locale, row);
      found.set(stamp.id, readRow(type, stamp, row, world));
    }
    return [...found.values()].sort((a, b) => a.id - b.id);
  };
  const worldOf = (version: Version): World => (version === 'published' ? 'published' : 'draft');
  return {
    async stamps(type: ContentType, version: Version): Promise<readonly RowStamp[]> {
      const rows = await readAll(type, worldOf(version));
      return rows.map(({ data }) => readStamp(type, version, locale, data));
    },
    async rows(type: ContentType, documentIds: readonly string[]): Promise<readonly SourceRow[]> {
      const all = await inBothWorlds(registry, type, (world) => readAll(type, world));
      return all.filter(({ documentId }) => documentIds.includes(documentId));
    },
  };
}

/** Returns the content types in the order in which they are copied. */
export function typesOf(registry: SchemaRegistry): readonly Uid[] {
  // Targets come before their owners: files, users, then types with versions, then those that link to both versions.
  const rank = ({ builtIn, draftAndPublish }: ContentType) => (builtIn ? 0 : draftAndPublish ? 1 : 2);
  return [...registry.contentTypes.values()].sort((a, b) => rank(a) - rank(b)).map(({ uid }) => uid);
}
