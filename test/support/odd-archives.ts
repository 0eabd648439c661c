import { createCipheriv, randomBytes, scryptSync } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { AT, archivedComponent, archivedType } from './strapi-archive.ts';

/** Archives of a small project, in all forms of `strapi export`, with odd members. */
export const FORMS = ['folder', 'tar', 'tar.gz', 'tar.gz.enc'] as const;
export const STRAPI_VERSIONS = [4, 5] as const;
export const ODDITIES = ['nothing', 'a Mac', 'values', 'rows', 'files'] as const;

type Row = { readonly type: string; readonly id: number; readonly data: Readonly<Record<string, unknown>> };

/** Content of an archive. */
export type ProjectContent = {
  readonly schemas: readonly object[];
  readonly entities: Row[];
  readonly links: object[];
  readonly configuration: readonly object[];
  readonly uploads: Record<string, Buffer>;
};

/** Numbers that an import has to store. Rows are counted by type and version. */
export type ExpectedCounts = {
  readonly rows: Record<string, number>;
  readonly links: Record<string, number>;
  readonly files: Record<string, Buffer>;
  readonly users: readonly string[];
  /** Files that differ from what the archive says. */
  readonly mismatches: number;
};

export type MadeArchive = { readonly content: ProjectContent; readonly expected: ExpectedCounts };

const KEY = 'open sesame';
export const ARCHIVE_KEY = KEY;

const times = { createdAt: AT, updatedAt: AT };
const BOX = archivedComponent('box.one', {
  label: { type: 'string' },
  extra: { type: 'json' },
  tag: { type: 'relation', relation: 'oneToOne', target: 'api::tag.tag' },
});
const TAG = archivedType('tag', {
  name: { type: 'string' },
  articles: { type: 'relation', relation: 'manyToMany', target: 'api::article.article', mappedBy: 'tags' },
});
const ARTICLE = archivedType(
  'article',
  {
    title: { type: 'string' },
    visits: { type: 'biginteger' },
    box: { type: 'component', component: 'box.one', repeatable: false },
    boxes: { type: 'component', component: 'box.one', repeatable: true },
    zone: { type: 'dynamiczone', components: ['box.one'] },
    cover: { type: 'media', multiple: false },
    tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag', inversedBy: 'articles' },
  },
  { options: { draftAndPublish: true }, pluginOptions: { i18n: { localized: true } } },
);

const link = (type: string, ref: number, field: string, target: string, to: number, pos: number) => ({
  kind: 'relation.basic',
  relation: 'manyToMany',
  left: { type, ref, field, pos },
  right: { type: target, ref: to, pos },
});
const cover = (file: number, article: number) => ({
  kind: 'relation.morph',
  relation: 'morphToMany',
  left: { type: 'plugin::upload.file', ref: file, field: 'related' },
  right: { type: 'api::article.article', ref: article, field: 'cover', pos: 1 },
});

const article = (id: number, documentId: string, data: object = {}): Row => ({
  type: 'api::article.article',
  id,
  data: {
    ...{
      documentId: documentId.padEnd(24, '0'),
      title: `${documentId} ${id}`,
      locale: 'en',
      publishedAt: AT,
    },
    boxes: [{ id: id * 10, label: 'in a list' }],
    zone: [{ id: id * 10 + 1, __component: 'box.one', label: 'in a zone' }],
    ...times,
    ...data,
  },
});
const row = (type: string, id: number, data: object): Row => ({
  type,
  id,
  data: {
    documentId: `${type.at(-1)}${id}`.padEnd(24, '0'),
    ...times,
    publishedAt: AT,
    locale: null,
    ...data,
  },
});

function file(id: number, name: string, content: Buffer, formats: Record<string, Buffer> = {}): Row {
  const picture = (each: string, bytes: Buffer) => ({
    ...{ name: each, url: `/uploads/${each}`, mime: 'text/plain', ext: '.txt', size: bytes.length / 1000 },
  });
  const smaller = Object.entries(formats).map(([each, bytes]) => [
    each,
    { ...picture(`${each}_${name}`, bytes), sizeInBytes: bytes.length },
  ]);
  const data = {
    ...picture(name, content),
    hash: name,
    provider: 'local',
    formats: Object.fromEntries(smaller),
  };
  return row('plugin::upload.file', id, data);
}

/** Makes the content of an archive, and the counts that its import has. */
export function makeProject(version: 4 | 5, oddity: (typeof ODDITIES)[number]): MadeArchive {
  const uploads = { 'a.txt': randomBytes(70_000), 'small_a.txt': randomBytes(900), 'b.txt': Buffer.alloc(0) };
  const isOdd = (kind: (typeof ODDITIES)[number]) => oddity === kind;
  // The draft and the published row of one entry in Strapi 5; a published row in Strapi 4, where an entry has only one.
  const entry =
    version === 5 ? [article(1, 'both', { publishedAt: null }), article(2, 'both')] : [article(2, 'both')];
  const french = article(3, version === 5 ? 'both' : 'french', { locale: 'fr', publishedAt: null });
  const entities: Row[] = [
    ...[1, 2, 3].map((id) => row('api::tag.tag', id, { name: `tag ${id}` })),
    ...entry,
    french,
    article(4, 'drafted', { publishedAt: null }),
    file(1, 'a.txt', uploads['a.txt'], { small: uploads['small_a.txt'] }),
    file(2, 'b.txt', uploads['b.txt']),
    ...[3, 4].map((id) => row('plugin::users-permissions.role', id, { name: `r${id}`, type: `r${id}` })),
    ...[1, 2].map((id) =>
      row('plugin::users-permissions.user', id, { username: `user${id}`, email: `u${id}@example.org` }),
    ),
  ];
  const links: object[] = [
    link('api::article.article', 2, 'tags', 'api::tag.tag', 1, 1),
    link('api::article.article', 2, 'tags', 'api::tag.tag', 2, 2),
    link('api::article.article', 4, 'tags', 'api::tag.tag', 3, 1),
    link('box.one', 20, 'tag', 'api::tag.tag', 2, 1),
    link('box.one', 41, 'tag', 'api::tag.tag', 3, 1),
    cover(1, 2),
    cover(2, 4),
    ...[1, 2].map((id) => ({
      kind: 'relation.basic',
      left: { type: 'plugin::users-permissions.user', ref: id, field: 'role' },
      right: { type: 'plugin::users-permissions.role', ref: id + 2 },
    })),
  ];
  if (version === 4)
    links.push({
      kind: 'relation.circular',
      left: { type: 'api::article.article', ref: 2, field: 'localizations' },
      right: { type: 'api::article.article', ref: 3 },
    });
  const expected = {
    rows: {
      'api::article.article draft': 3,
      'api::article.article published': 1,
      'api::tag.tag live': 3,
      'plugin::upload.file live': 2,
      'plugin::users-permissions.user live': 2,
    } as Record<string, number>,
    links: {
      // A draft that is made has the links of its published row.
      'api::article.article draft': version === 5 ? 3 : 7,
      'api::article.article published': 4,
    },
    files: { ...uploads } as Record<string, Buffer>,
    users: ['user1', 'user2'],
    mismatches: 0,
  };
  if (isOdd('values')) makeOddValues(entities);
  if (isOdd('rows')) makeOddRows(entities, links, expected);
  if (isOdd('files')) {
    expected.mismatches = 2;
    expected.files = {
      ...uploads,
      'a.txt': uploads['a.txt'].subarray(0, 500),
      'small_a.txt': Buffer.alloc(901),
    };
  }
  const kept = version === 5 ? entities : entities.map(withoutDocumentId);
  const configuration = [{ type: 'core-store', value: { key: 'plugin_i18n_default_locale', value: 'en' } }];
  const content = {
    schemas: [TAG, ARTICLE, BOX],
    entities: kept,
    links,
    configuration,
    uploads: expected.files,
  };
  return { content, expected };
}

function withoutDocumentId({ data: { documentId: _, ...data }, ...named }: Row): Row {
  return { ...named, data };
}

/** Values that stopped an import, or were lost in silence. They change no count. */
function makeOddValues(entities: Row[]): void {
  const deep = JSON.parse('['.repeat(3_000) + ']'.repeat(3_000));
  const at = entities.findIndex(({ id, type }) => id === 2 && type === 'api::article.article');
  const odd = {
    boxes: [null, { id: 20, label: 'first' }, 7, { id: 20, label: 'last', extra: deep }],
    zone: [null, { id: 21, __component: 'box.one', label: 'in a zone' }, { id: 22, __component: 'box.gone' }],
    box: [
      { id: 23, label: 'kept' },
      { id: 24, label: 'omitted' },
    ],
    visits: '9223372036854776000',
    formerly: deep,
  };
  const found = entities[at] as Row;
  entities[at] = { ...found, data: { ...found.data, ...odd } };
}

/** Rows without an id of their own, rows that are not stored, and links without an end. */
function makeOddRows(entities: Row[], links: object[], { rows }: ExpectedCounts): void {
  entities.push(
    row('api::tag.tag', 4, { documentId: null, name: 'without an id' }),
    row('api::tag.tag', 5, { documentId: null, name: 'without an id either' }),
    row('api::tag.tag', 1, { name: 'with the id of another row' }),
    row('api::tag.tag', 6, { name: 'of a locale that tags do not have', locale: 'fr' }),
    row('api::gone.gone', 1, { name: 'of a type that is not served' }),
    row('admin::user', 1, { firstname: 'Ada' }),
  );
  links.push(
    link('api::article.article', 2, 'tags', 'api::tag.tag', 99, 3),
    link('api::article.article', 99, 'tags', 'api::tag.tag', 1, 3),
    link('api::article.article', 2, 'gone', 'api::tag.tag', 1, 1),
    {
      kind: 'relation.circular',
      left: { type: 'api::tag.tag', ref: 'x', field: 'localizations' },
      right: {},
    },
  );
  rows['api::tag.tag live'] = 5;
}

/** Writes an archive in one of its forms. Returns its path. */
export async function writeForm(
  base: string,
  form: (typeof FORMS)[number],
  content: ProjectContent,
  onMac: boolean,
): Promise<string> {
  const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const files: Record<string, Buffer | string> = {
    'schemas/schemas_00001.jsonl': lines(content.schemas),
    'entities/entities_00001.jsonl': lines(content.entities),
    'links/links_00001.jsonl': lines(content.links),
    'configuration/configuration_00001.jsonl': lines(content.configuration),
    'metadata.json': JSON.stringify({ createdAt: AT, strapi: { version: '5.54.0' } }),
  };
  for (const [name, bytes] of Object.entries(content.uploads)) files[`assets/uploads/${name}`] = bytes;
  const named = onMac ? Object.entries(files).flatMap(packedOnMac) : Object.entries(files);
  if (form === 'folder') {
    for (const [name, bytes] of named) {
      mkdirSync(dirname(join(base, name)), { recursive: true });
      writeFileSync(join(base, name), bytes);
    }
    return base;
  }
  const plain = `${base}.${form.replace('.enc', '')}`;
  const tar = pack();
  const out = createWriteStream(plain);
  const written = form === 'tar' ? pipeline(tar, out) : pipeline(tar, createGzip({ level: 1 }), out);
  for (const [name, bytes] of named) tar.entry({ name }, bytes);
  tar.finalize();
  await written;
  if (form !== 'tar.gz.enc') return plain;
  const cipher = createCipheriv('aes-128-ecb', scryptSync(KEY, '', 16), null);
  const encrypted = Buffer.concat([cipher.update(readFileSync(plain)), cipher.final()]);
  writeFileSync(`${plain}.enc`, encrypted);
  return `${plain}.enc`;
}

function packedOnMac([name, bytes]: [string, Buffer | string]): [string, Buffer | string][] {
  const [folder, file] = [dirname(name), name.slice(name.lastIndexOf('/') + 1)];
  return [
    [`export/${folder}/._${file}`, 'attributes'],
    [`export/${name}`, bytes],
    ['export/.DS_Store', 'window'],
  ];
}
