import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { createAssetChecks } from '../../../services/strapi/asset-checks.ts';
import { databaseNames, snakeCase } from '../../../services/strapi/database-names.ts';
import { createImportNotes } from '../../../services/strapi/import-notes.ts';
import { isDatabase, stageDatabase } from '../../../services/strapi/stage-database.ts';
import type { Entity, Link, StrapiSetting } from '../../../services/strapi/stager.ts';
import { collectionNames } from '../../../services/strapi/strapi-tables.ts';
import { assembleContentTypes } from '../../../shared/schema/load-content-types.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-strapi-database-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names that Strapi 5.54 gave. */
const NAMES: readonly (readonly [table: string, attribute: string, name: string])[] = [
  [
    'components_sections_featured_articles_with_pictures',
    'relatedArticlesOfTheAuthor',
    'components_sections_793c9_related_articles_of_a9852_lnk',
  ],
  ['restaurants', 'tags', 'restaurants_tags_lnk'],
  [
    'components_blocks_a_very_long_collection_name_for_teasers',
    'x',
    'components_blocks_a_very_long_collection_namcfc49_x_lnk',
  ],
  [
    'a',
    'anAttributeWithAnExtremelyLongNameThatNobodyWouldEverWriteInASchema',
    'a_an_attribute_with_an_extremely_long_name_tha986e7_lnk',
  ],
];

it.each(NAMES)('names the table of %s and %s as Strapi does', (table, attribute, name) => {
  expect(databaseNames([snakeCase(table), snakeCase(attribute)], ['lnk', 'links'])[0]).toBe(name);
});

it('writes names in snake case as Strapi does', () => {
  const names = ['seoH1Title', 'ABCDef', 'line2', 'is_big', 'fooBAR', 'HTMLText', 'x1y2'];
  expect(names.map(snakeCase)).toEqual([
    ...['seo_h_1_title', 'abc_def', 'line_2', 'is_big', 'foo_bar', 'html_text', 'x_1_y_2'],
  ]);
});

/** Tables of Strapi 4: without documentIds, with its longer suffixes, and with orders in columns. */
const STRAPI_4 = `
  CREATE TABLE strapi_core_store_settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT);
  INSERT INTO strapi_core_store_settings VALUES (1, 'plugin_i18n_default_locale', '"en"'), (2, 'odd', '{');
  CREATE TABLE pages (id INTEGER PRIMARY KEY, seo_h_1_title TEXT, is_big BOOLEAN, extra JSON, seen_at DATETIME, day DATE,
    created_at DATETIME, published_at DATETIME, locale TEXT, main_id INTEGER);
  INSERT INTO pages VALUES (1, 'Ünï', 1, '{"b":[1]}', 1700000000000, '2024-02-03', '2024-01-02 03:04:05', 1700000000000, 'en', 2),
    (2, NULL, 0, 'not json', NULL, 1706918400000, 1, NULL, 'de', NULL);
  CREATE TABLE pages_components (id INTEGER PRIMARY KEY, entity_id INTEGER, component_id INTEGER, component_type TEXT, field TEXT, "order" REAL);
  INSERT INTO pages_components VALUES (1, 1, 7, 'box.one', 'boxes', 2), (2, 1, 8, 'box.one', 'boxes', 1), (3, 1, 9, 'box.gone', 'zone', 1),
    (4, 1, 99, 'box.one', 'box', 1), (5, 1, 8, 'box.one', 'box', 2);
  CREATE TABLE components_box_ones (id INTEGER PRIMARY KEY, label TEXT);
  INSERT INTO components_box_ones VALUES (7, 'seven'), (8, 'eight');
  CREATE TABLE pages_related_links (id INTEGER PRIMARY KEY, page_id INTEGER REFERENCES pages, inv_page_id INTEGER REFERENCES pages,
    page_order REAL, inv_page_order REAL);
  INSERT INTO pages_related_links VALUES (1, 1, 2, 5, 6), (2, NULL, 2, 1, 1);
  CREATE TABLE pages_localizations_links (id INTEGER PRIMARY KEY, page_id INTEGER REFERENCES pages, inv_page_id INTEGER REFERENCES pages);
  INSERT INTO pages_localizations_links VALUES (1, 1, 2);
  CREATE TABLE files (id INTEGER PRIMARY KEY, url TEXT, formats JSON, size REAL);
  INSERT INTO files VALUES (1, '/uploads/a.txt', '{"small":{"url":"/uploads/small_a.txt"}}', 0.01), (2, '/uploads/../secret', NULL, 1),
    (3, '/uploads/link.txt', NULL, 1);
  CREATE TABLE files_related_morphs (id INTEGER PRIMARY KEY, file_id INTEGER REFERENCES files, related_id INTEGER, related_type TEXT, field TEXT,
    "order" REAL);
  INSERT INTO files_related_morphs VALUES (1, 1, 1, 'api::page.page', 'cover', 1);
  CREATE TABLE up_users (id INTEGER PRIMARY KEY, username TEXT, confirmed BOOLEAN);
  INSERT INTO up_users VALUES (1, 'ada', 1);
  CREATE TABLE up_roles (id INTEGER PRIMARY KEY, name TEXT, type TEXT);
  INSERT INTO up_roles VALUES (3, 'Editor', 'editor');
  CREATE TABLE up_users_role_links (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES up_users, role_id INTEGER REFERENCES up_roles, user_order REAL);
  INSERT INTO up_users_role_links VALUES (1, 1, 3, 1);
`;

const PAGE = {
  kind: 'collectionType',
  collectionName: 'pages',
  info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
  pluginOptions: { i18n: { localized: true } },
  attributes: {
    seoH1Title: { type: 'string' },
    isBig: { type: 'boolean' },
    extra: { type: 'json' },
    seenAt: { type: 'datetime' },
    day: { type: 'date' },
    unknownColumn: { type: 'string' },
    boxes: { type: 'component', component: 'box.one', repeatable: true },
    box: { type: 'component', component: 'box.one', repeatable: false },
    zone: { type: 'dynamiczone', components: ['box.one'] },
    cover: { type: 'media' },
    related: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', inversedBy: 'linking' },
    linking: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', mappedBy: 'related' },
    main: { type: 'relation', relation: 'oneToOne', target: 'api::page.page', useJoinTable: false },
  },
};
const BOX = {
  collectionName: 'components_box_ones',
  info: { displayName: 'One' },
  attributes: { label: { type: 'string' } },
};

async function staged(sql: string) {
  const file = join(folder, 'data.db');
  const uploads = join(folder, 'uploads');
  rmSync(file, { force: true });
  mkdirSync(uploads, { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  const loaded = assembleContentTypes([
    { model: 'contentType', file: 'page', namespace: 'api::page', json: PAGE },
    { model: 'component', file: 'box', uid: 'box.one', json: BOX },
  ]);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const [rows, links, settings, assets]: [Entity[], Link[], StrapiSetting[], Record<string, string>] = [
    [],
    [],
    [],
    {},
  ];
  const stager = {
    row: (row: Entity) => void rows.push(row),
    link: (link: Link) => void links.push(link),
    setting: (setting: StrapiSetting) => void settings.push(setting),
    counts: () => ({ rows: new Map(), links: 0 }),
    settings: () => new Map(),
  };
  const notes = createImportNotes();
  const facts = await stageDatabase({
    ...{ file, registry: loaded.registry, collections: collectionNames(loaded.definitions), uploads, stager },
    ...{ notes, checks: createAssetChecks() },
    async onAsset({ name, content }) {
      assets[name] = Buffer.concat(await Array.fromAsync(content)).toString();
    },
  });
  const noted = notes.list().map(({ what, reason, count }) => `${what}: ${reason} (${count})`);
  return { file, rows, links, settings, assets, facts, noted };
}

it('reads rows, components, links, files and settings of Strapi 4', async () => {
  mkdirSync(join(folder, 'uploads'), { recursive: true });
  writeFileSync(join(folder, 'uploads/a.txt'), 'text of a');
  writeFileSync(join(folder, 'uploads/small_a.txt'), 'small');
  writeFileSync(join(folder, 'secret'), 'secret');
  symlinkSync(join(folder, 'secret'), join(folder, 'uploads/link.txt'));
  const { file, rows, links, settings, assets, facts, noted } = await staged(STRAPI_4);
  expect([isDatabase(file), isDatabase(join(folder, 'secret')), isDatabase(folder)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(facts).toEqual({ version: '4' });
  expect(noted).toEqual([
    'api::page.page unknownColumn: absent: the database has no column or table for it (1)',
    'box.one box: omitted: the database does not have the component (1)',
    'plugin::users-permissions.permission: has no rows: the database has no table of this type (1)',
  ]);
  const pages = rows.filter(({ type }) => type === 'api::page.page');
  expect(pages[0]).toEqual({
    type: 'api::page.page',
    id: 1,
    data: {
      ...{
        seoH1Title: 'Ünï',
        isBig: true,
        extra: { b: [1] },
        seenAt: '2023-11-14T22:13:20.000Z',
        day: '2024-02-03',
      },
      boxes: [
        { id: 8, label: 'eight' },
        { id: 7, label: 'seven' },
      ],
      box: { id: 8, label: 'eight' },
      zone: [{ id: 9, __component: 'box.gone' }],
      ...{ createdAt: '2024-01-02T03:04:05.000Z', publishedAt: '2023-11-14T22:13:20.000Z', locale: 'en' },
    },
  });
  expect(pages[1]?.data).toMatchObject({
    extra: 'not json',
    isBig: false,
    day: '2024-02-03',
    publishedAt: null,
    boxes: [],
    box: null,
  });
  const ends = links.map(({ left, right }) => [
    left.type,
    left.field,
    left.ref,
    left.pos,
    right.ref,
    right.pos,
  ]);
  expect(ends).toEqual(
    expect.arrayContaining([
      ['api::page.page', 'related', 1, 5, 2, 6],
      ['api::page.page', 'main', 1, undefined, 2, undefined],
      ['api::page.page', 'localizations', 1, undefined, 2, undefined],
      ['plugin::upload.file', 'related', 1, undefined, 1, 1],
      ['plugin::users-permissions.user', 'role', 1, undefined, 3, undefined],
    ]),
  );
  expect(ends).toHaveLength(5);
  expect(settings).toContainEqual({ value: { key: 'plugin_i18n_default_locale', value: 'en' } });
  expect(assets).toEqual({ 'assets/uploads/a.txt': 'text of a', 'assets/uploads/small_a.txt': 'small' });
});

it('names content types without a table, as those of another project', async () => {
  const { noted } = await staged(STRAPI_4.replaceAll(/\bpages\b/g, 'sites'));
  expect(noted).toContain('api::page.page: has no rows: the database has no table of this type (1)');
  const own = (await staged(STRAPI_4)).noted.filter((note) => note.includes('no table of this type'));
  expect(own.filter((note) => note.startsWith('api::'))).toEqual([]);
});

it('refuses a database that is not of Strapi', async () => {
  await expect(staged('CREATE TABLE other (id INTEGER)')).rejects.toThrow('is not a database of Strapi');
});

it('names every part of the schemas for which the database has no table or column', async () => {
  const { rows, noted } = await staged(`
    CREATE TABLE strapi_core_store_settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT);
    CREATE TABLE pages (id INTEGER PRIMARY KEY, document_id TEXT, seo_h_1_title TEXT, extra JSON, seen_at DATETIME, day DATE);
    INSERT INTO pages VALUES (1, 'a', 'b', NULL, NULL, NULL);`);
  expect(rows).toHaveLength(1);
  const absent = (what: string) => `${what}: absent: the database has no column or table for it (1)`;
  const names = ['isBig', 'unknownColumn', 'boxes', 'box', 'zone', 'related', 'main'];
  expect(noted.filter((note) => !note.includes('no table of this type'))).toEqual([
    ...names.map((name) => absent(`api::page.page ${name}`)),
    'box.one: absent: the database has no table of it (1)',
  ]);
});
