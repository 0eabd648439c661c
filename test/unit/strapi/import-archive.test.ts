import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readArchiveSchemas } from '../../../services/strapi/archive-schemas.ts';
import { importArchive } from '../../../services/strapi/import-archive.ts';
import type { RoleDefined } from '../../../shared/access/login-events.ts';
import type { ContentGraphReader } from '../../../shared/document/entry.ts';
import type { EntryImported } from '../../../shared/document/events.ts';
import { validateEvent } from '../../../shared/events/validate-event.ts';
import { assembleContentTypes } from '../../../shared/schema/load-content-types.ts';
import {
  type ArchiveContent,
  AT,
  archivedComponent,
  archivedType,
  writeArchive,
} from '../../support/strapi-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-archived-'));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

type Imported = EntryImported['data'];

/** Imports an archive. Returns its events by `<documentId> <version>`, and the summary of the import. */
async function imported(content: ArchiveContent, graph: Partial<ContentGraphReader> = {}) {
  const file = await writeArchive(join(folder, `${++made}.tar.gz`), content);
  const loaded = assembleContentTypes(await readArchiveSchemas({ file }));
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const rows = new Map<string, Imported>();
  let defined: { readonly roles: readonly RoleDefined['data'][]; readonly login: object } = {
    roles: [],
    login: {},
  };
  const summary = await importArchive({
    ...{ file, registry: loaded.registry, defaultLocale: 'en', space: 'varve', epoch: 1 },
    stagingFile: join(folder, `${made}.db`),
    graph: { documentOfId: () => undefined, streamRevision: () => undefined, ...graph },
    async write({ events }) {
      for (const event of events) {
        expect(validateEvent({ ...event, data: JSON.parse(JSON.stringify(event.data)) })).toBeUndefined();
        const data = event.data as Imported;
        rows.set(`${data.documentId} ${data.version}`, data);
      }
      return [];
    },
    async takeAsset({ content }) {
      for await (const _ of content);
    },
    roleDrafts: [],
    async defineRoles(roles, login) {
      defined = { roles, login };
    },
    onBytes: () => {},
    onDocuments: () => {},
  });
  const described = defined;
  const notes = summary.notes.map(({ what, reason, count }) => `${what}: ${reason} (${count})`);
  return { rows, notes, summary, ...described };
}

const DRAFTS = { options: { draftAndPublish: true } };
const LOCALES = { pluginOptions: { i18n: { localized: true } } };

function row(type: string, id: number, documentId: string, data: object = {}): object {
  const times = { createdAt: AT, updatedAt: AT, publishedAt: AT };
  return { type: `api::${type}.${type}`, id, data: { documentId, ...times, locale: null, ...data } };
}

const THING = archivedType('thing', {
  name: { type: 'string', required: true, maxLength: 5 },
  kind: { type: 'enumeration', enum: ['a', 'b'] },
  count: { type: 'integer' },
  zone: { type: 'dynamiczone', components: ['box.one'] },
  box: { type: 'component', component: 'box.one', repeatable: false },
});
const BOX = archivedComponent('box.one', {
  label: { type: 'string' },
  things: { type: 'relation', relation: 'oneToMany', target: 'api::thing.thing' },
});

describe('an import of an archive', () => {
  it('stores values that the schema refuses, and reports them once for each attribute', async () => {
    const { rows, notes } = await imported({
      schemas: [THING, BOX],
      entities: [
        row('thing', 1, 'a', { name: null, kind: 'c', formerly: [1] }),
        row('thing', 2, 'b', { name: 'too long', count: 'many' }),
        row('thing', 3, 'c', { name: null }),
      ],
    });
    expect(rows.get('a live')?.values).toEqual({ kind: 'c', formerly: [1] });
    expect(rows.get('b live')?.values).toEqual({ name: 'too long' });
    expect(notes).toEqual([
      expect.stringMatching(
        /^api::thing.thing name: stored unchanged: name must be a `string` type, .* \(2\)$/s,
      ),
      'api::thing.thing kind: stored unchanged: kind must be one of the following values: a, b,  (1)',
      'api::thing.thing formerly: stored, and not served: the schema has no such attribute (1)',
      'api::thing.thing name: stored unchanged: name must be at most 5 characters (1)',
      'api::thing.thing count: omitted: not a value of the type integer: "many" (1)',
    ]);
  });

  it('keeps components with their ids and links, and omits removed ones', async () => {
    const link = (id: number, ref: number, pos: number) => ({
      ...{ kind: 'relation.basic', relation: 'oneToMany' },
      left: { type: 'box.one', field: 'things', ref: id, pos },
      right: { type: 'api::thing.thing', ref },
    });
    const { rows, notes } = await imported({
      schemas: [THING, BOX],
      entities: [
        row('thing', 1, 'a', {
          name: 'A',
          box: { id: 7, label: 'in' },
          zone: [
            { id: 8, __component: 'box.one', label: 'on' },
            { id: 9, __component: 'box.gone', label: 'off' },
          ],
        }),
        row('thing', 2, 'b', { name: 'B' }),
      ],
      links: [link(7, 2, 2), link(7, 1, 1), link(8, 99, 1)],
    });
    const target = (documentId: string) => ({ documentId, locale: null });
    expect(rows.get('a live')?.values).toMatchObject({
      box: { id: 7, label: 'in', things: [target('a'), target('b')] },
      zone: [{ __component: 'box.one', id: 8, label: 'on' }],
    });
    expect(notes).toEqual([
      'api::thing.thing zone: omitted: the attribute does not allow the component box.gone (1)',
      'box.one things: omitted: the archive does not have the target (1)',
    ]);
  });

  it('orders versions by their times, and creates a missing draft', async () => {
    const type = archivedType('page', { title: { type: 'string' } }, DRAFTS);
    const later = '2026-03-02T03:04:05.678Z';
    const { rows, notes } = await imported({
      schemas: [type],
      entities: [
        row('page', 1, 'edited', { publishedAt: null, updatedAt: later, title: 'draft' }),
        row('page', 2, 'edited', { title: 'public' }),
        row('page', 3, 'same', { title: 'public' }),
        row('page', 4, 'same', { publishedAt: null, title: 'draft' }),
        row('page', 5, 'alone', { title: 'public' }),
        row('page', 6, 'alone', { title: 'again' }),
      ],
    });
    expect([...rows].map(([key, { id, values }]) => [key, id, values['title']])).toEqual([
      ['alone draft', 15, 'public'],
      ['alone published', 5, 'public'],
      ['edited published', 2, 'public'],
      ['edited draft', 1, 'draft'],
      ['same draft', 4, 'draft'],
      ['same published', 3, 'public'],
    ]);
    expect(notes).toEqual([
      'api::page.page: omitted: another row has the same version and locale of the document (1)',
      'api::page.page: made a draft for a published row without one (1)',
    ]);
  });

  it('assigns the default locale to rows without one, and omits other locales of types without locales', async () => {
    const { rows, notes } = await imported({
      schemas: [archivedType('page', {}, LOCALES), archivedType('thing', {})],
      entities: [
        row('page', 1, 'a'),
        row('page', 2, 'b', { locale: 'fr' }),
        row('thing', 1, 'c', { locale: 'en' }),
        row('thing', 2, 'd', { locale: 'fr' }),
      ],
    });
    expect([...rows].map(([key, { locale }]) => [key, locale])).toEqual([
      ['a live', 'en'],
      ['b live', 'fr'],
      ['c live', null],
    ]);
    expect(notes).toEqual(['api::thing.thing: omitted: the type has no locales, and the row has fr (1)']);
  });

  it('links media by their polymorphic links, and relations from their owning side', async () => {
    const file = {
      name: 'a.png',
      hash: 'a_1',
      ext: '.png',
      mime: 'image/png',
      size: 1,
      url: '/uploads/a_1.png',
    };
    const page = archivedType('page', {
      cover: { type: 'media', multiple: true },
      // Both sides have `inversedBy`, so Varve treats the first as the owner.
      things: { type: 'relation', relation: 'manyToMany', target: 'api::thing.thing', inversedBy: 'pages' },
    });
    const thing = archivedType('thing', {
      pages: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', inversedBy: 'things' },
    });
    const { rows } = await imported({
      schemas: [page, thing],
      entities: [
        row('page', 1, 'p'),
        row('thing', 1, 't'),
        ...[1, 2].map((id) => ({ type: 'plugin::upload.file', id, data: { documentId: `f${id}`, ...file } })),
      ],
      links: [
        ...[2, 1].map((ref, pos) => ({
          ...{ kind: 'relation.morph', relation: 'morphToMany' },
          left: { type: 'plugin::upload.file', field: 'related', ref },
          right: { type: 'api::page.page', field: 'cover', ref: 1, pos: pos + 1 },
        })),
        {
          ...{ kind: 'relation.basic', relation: 'manyToMany' },
          left: { type: 'api::thing.thing', field: 'pages', ref: 1, pos: 4 },
          right: { type: 'api::page.page', field: 'things', ref: 1, pos: 9 },
        },
      ],
    });
    expect(rows.get('p live')?.relations).toEqual([
      { attribute: 'cover', targets: [2, 1].map((id) => ({ documentId: `f${id}`, locale: null })) },
      { attribute: 'things', targets: [{ documentId: 't', locale: null, order: 1 }] },
    ]);
    expect(rows.get('f1 live')?.values).toMatchObject(file);
  });

  it('keeps the first of two rows with one id, and names the other', async () => {
    const entities = [row('thing', 1, 'first', { name: 'a' }), row('thing', 1, 'second', { name: 'b' })];
    const { rows, notes } = await imported({ schemas: [THING, BOX], entities });
    expect([...rows.keys()]).toEqual(['first live']);
    expect(notes).toEqual(['api::thing.thing: omitted: an earlier row of the archive has the same id (1)']);
  });

  it('names files whose bytes are not in the archive, but for those of another provider', async () => {
    const file = (id: number, url: string) => ({
      type: 'plugin::upload.file',
      id,
      data: { documentId: `file${id}`, name: 'n', hash: 'h', mime: 'image/png', size: 0, provider: 'p', url },
    });
    const entities = [
      ...[file(1, '/uploads/here.png'), file(2, '/uploads/gone.png'), file(3, '/uploads/lost.png')],
      file(4, 'https://cdn.example.org/far.png'),
    ];
    const assets = { 'here.png': Buffer.from('b') };
    const { summary } = await imported({ schemas: [THING, BOX], entities, assets });
    expect(summary.notes).toEqual([
      {
        what: 'plugin::upload.file',
        reason: 'stored without its bytes: the archive does not have them',
        count: 2,
        example: '/uploads/gone.png',
      },
    ]);
  });

  it('omits null and scalars in lists of components, and all but one component where the schema has one', async () => {
    const deep = JSON.parse('['.repeat(3_000) + ']'.repeat(3_000));
    const type = archivedType('thing', {
      name: { type: 'string' },
      extra: { type: 'json' },
      box: { type: 'component', component: 'box.two', repeatable: false },
      boxes: { type: 'component', component: 'box.two', repeatable: true },
      zone: { type: 'dynamiczone', components: ['box.two'] },
    });
    const box = archivedComponent('box.two', { label: { type: 'string' }, more: { type: 'json' } });
    const { rows, notes, summary } = await imported({
      schemas: [type, box],
      entities: [
        row('thing', 1, 'a', {
          ...{ name: 'A', extra: deep, gone: deep },
          box: [
            { id: 1, label: 'first' },
            { id: 2, label: 'second' },
          ],
          boxes: [
            null,
            { id: 3, label: 'x', more: deep },
            7,
            { id: 4 },
            { id: 3, label: 'y' },
            { label: 'z' },
          ],
          zone: [null, { __component: 'box.two', id: 5, label: 'on' }, 'text'],
        }),
        row('thing', 2, 'b', { boxes: { id: 6, label: 'alone' }, zone: null, box: null }),
      ],
    });
    expect(rows.get('a live')?.values).toEqual({
      name: 'A',
      box: { id: 1, label: 'first' },
      boxes: [{ id: 3, label: 'y' }, { id: 4 }, { label: 'z' }],
      zone: [{ __component: 'box.two', id: 5, label: 'on' }],
    });
    expect(rows.get('b live')?.values).toEqual({ boxes: [{ id: 6, label: 'alone' }] });
    expect(notes).toEqual([
      'api::thing.thing extra: omitted: the value nests deeper than 100 levels (1)',
      'api::thing.thing gone: omitted: the value nests deeper than 100 levels (1)',
      'box.two more: omitted: the value nests deeper than 100 levels (1)',
      'api::thing.thing box: omitted: a second component of an attribute with one (1)',
      'api::thing.thing boxes: omitted: not a component, but null or a scalar (2)',
      'api::thing.thing boxes: omitted: a later component of the list has the same id (1)',
      'api::thing.thing zone: omitted: not a component, but null or a scalar (2)',
    ]);
    expect(summary.rows).toEqual({ 'api::thing.thing': { read: 2, stored: 2, omitted: {} } });
    expect(summary.mismatches).toEqual([]);
  });

  it('counts rows that were read, stored and omitted, and names files that are not as the archive says', async () => {
    const file = (id: number, name: string, size: object) => ({
      ...{ type: 'plugin::upload.file', id },
      data: { documentId: `f${id}`, name, hash: 'h', mime: 'text/plain', url: `/uploads/${name}`, ...size },
    });
    const { summary } = await imported({
      schemas: [THING, BOX],
      entities: [
        ...[row('thing', 1, 'a'), row('thing', 1, 'b'), row('thing', 2, 'c', { locale: 'fr' })],
        ...[row('gone', 1, 'a'), file(1, 'same.txt', { size: 2 }), file(2, 'short.txt', { size: 2 })],
        ...[file(3, 'exact.txt', { size: 2, sizeInBytes: 1999 }), file(4, 'old.txt', { size: 1.95 })],
      ],
      assets: {
        'same.txt': Buffer.alloc(2000),
        'short.txt': Buffer.alloc(0),
        'exact.txt': Buffer.alloc(2000),
        'old.txt': Buffer.alloc(2000),
      },
    });
    expect(summary.rows).toEqual({
      'api::thing.thing': {
        read: 3,
        stored: 1,
        omitted: {
          'an earlier row of the archive has the same id': 1,
          'the type has no locales, and the row has fr': 1,
        },
      },
      'api::gone.gone': { read: 1, stored: 0, omitted: { 'the type is not served': 1 } },
      'plugin::upload.file': { read: 4, stored: 4, omitted: {} },
    });
    expect(summary.mismatches).toEqual([
      '/uploads/short.txt: the archive says it has 2 kB, and has 0 bytes of it',
      '/uploads/exact.txt: the archive says it has 1999 bytes, and has 2000 bytes of it',
    ]);
  });

  it.each([
    [
      'a row',
      { entities: [{ type: 'api::thing.thing', id: 1 }] },
      'entities/entities_00001.jsonl, line 1: must be a row',
    ],
    ['an id', { entities: [row('thing', 1.5, 'a')] }, 'entities/entities_00001.jsonl, line 1: must be a row'],
    [
      'a link',
      { links: [{ left: {}, right: {} }, { left: {} }] },
      'links/links_00001.jsonl, line 2: must be a link',
    ],
    [
      'a setting',
      { configuration: [[]] },
      'configuration/configuration_00001.jsonl, line 1: must be a setting, got []',
    ],
    ['a schema', { schemas: [THING, { uid: 'x' }] }, 'schemas/schemas_00001.jsonl, line 2: must be a schema'],
    ['the metadata', { metadata: '{' }, 'metadata.json: Expected property name'],
    ['metadata without an end', { metadata: `{"a":"${'x'.repeat(2 ** 20)}"}` }, 'metadata.json: longer than'],
  ])('names the line of %s that has another shape', async (_what, content, message) => {
    await expect(imported({ schemas: [THING, BOX], entities: [], ...content })).rejects.toThrow(message);
  });

  it('refuses an id of another document', async () => {
    const owner = { documentId: 'other', locale: null };
    const { rows, summary } = await imported(
      {
        schemas: [THING, BOX],
        entities: [row('thing', 1, 'a', { name: 'A' }), row('thing', 2, 'b', { name: 'B' })],
      },
      { documentOfId: (_type, id) => (id === 2 ? owner : undefined) },
    );
    expect([...rows.keys()]).toEqual(['a live']);
    expect(summary.refused).toEqual(['api::thing.thing b: the id 2 already belongs to other']);
  });

  it('keeps roles by their type', async () => {
    const roleType = 'plugin::users-permissions.role';
    const userType = 'plugin::users-permissions.user';
    const link = (user: number, role: number) => ({
      ...{ kind: 'relation.basic', relation: 'manyToOne' },
      left: { type: userType, field: 'role', ref: user },
      right: { type: roleType, field: 'users', ref: role, pos: 1 },
    });
    const users = [1, 2, 3].map((id) => ({
      ...{ type: userType, id },
      data: {
        documentId: `u${id}`,
        username: `user${id}`,
        email: `u${id}@example.org`,
        password: '$2a$10$hash',
      },
    }));
    const roles = [
      [4, 'public'],
      [5, 'authenticated'],
      [6, 'editor'],
    ].map(([id, type]) => ({ type: roleType, id, data: { documentId: `r${id}`, name: type, type } }));
    const { rows, notes } = await imported({
      schemas: [THING, BOX],
      entities: [...roles, ...users] as object[],
      links: [link(1, 4), link(2, 5), link(3, 6)],
    });
    const found = [1, 2, 3].map((id) => rows.get(`u${id} live`)?.values);
    expect(found).toMatchObject([{ role: 2, password: '$2a$10$hash' }, { role: 1 }, { role: 6 }]);
    expect(notes).toEqual([]);
  });
});

describe('an archive of Strapi 4, whose rows have no documentId', () => {
  const NOTE = archivedType(
    'note',
    {
      title: { type: 'string', ...LOCALES },
      next: { type: 'relation', relation: 'oneToOne', target: 'api::note.note' },
    },
    { ...DRAFTS, ...LOCALES },
  );
  const note = (id: number, title: string, data: object = {}) => {
    const { data: values, ...named } = row('note', id, 'omitted', { title, locale: 'en', ...data }) as {
      data: Record<string, unknown>;
    };
    const { documentId: _, ...others } = values;
    return { ...named, data: others };
  };
  const end = (ref: number, field?: string) => ({ type: 'api::note.note', ref, ...(field && { field }) });
  const localization = (left: number, right: number) => ({
    ...{ kind: 'relation.basic', relation: 'oneToMany' },
    ...{ left: end(left, 'localizations'), right: end(right) },
  });

  it('gets one document for each row, with its links, its drafts and its locales', async () => {
    const content = {
      schemas: [NOTE],
      entities: [
        note(1, 'one'),
        note(2, 'two', { publishedAt: null }),
        note(3, 'drei', { locale: 'de' }),
        note(4, 'trois', { locale: 'fr' }),
        note(5, 'three'),
      ],
      links: [
        { kind: 'relation.basic', relation: 'oneToOne', left: end(1, 'next'), right: end(2) },
        ...[localization(3, 4), localization(5, 4), localization(4, 5)],
      ],
    };
    const { rows, notes } = await imported(content);
    const ids = new Set([...rows.keys()].map((key) => key.split(' ')[0]));
    expect(ids.size).toBe(3);
    expect(ids.has('undefined')).toBe(false);
    expect([...rows.keys()].filter((key) => key.endsWith(' published'))).toHaveLength(2);
    expect(notes).toContain('api::note.note: got a documentId: the row has none (5)');
    const again = await imported(content);
    expect(new Set(again.rows.keys())).toEqual(new Set(rows.keys()));
  });

  it('keeps a row apart that has the locale and version of a row it is joined with, and joins a draft with its published row', async () => {
    const entities = [
      ...[note(1, 'one'), note(2, 'uno', { locale: 'es' }), note(3, 'other')],
      note(4, 'draft', { publishedAt: null }),
    ];
    const links = [localization(1, 2), localization(2, 3), localization(3, 4)];
    const { rows, notes } = await imported({ schemas: [NOTE], entities, links });
    expect(new Set([...rows.values()].map(({ documentId }) => documentId)).size).toBe(2);
    expect(rows.size).toBe(4);
    expect(notes).toContain(
      'api::note.note: is a document of its own: a joined row has its locale and version (1)',
    );
  });

  it('ignores localizations links that name no row', async () => {
    const entities = [note(1, 'one'), note(2, 'two', { locale: 'de' })];
    const links = [
      { kind: 'relation.circular', left: { ...end(1, 'localizations'), ref: 'abc' }, right: end(2) },
      { kind: 'relation.circular', left: end(1, 'localizations'), right: { type: 'api::note.note' } },
      ...[localization(7, 8), localization(1, 1)],
    ];
    const { rows } = await imported({ schemas: [NOTE], entities, links });
    expect(new Set([...rows.values()].map(({ documentId }) => documentId)).size).toBe(2);
  });

  it.each([null, '', 7])('gives a row whose documentId is %j one of its own', async (documentId) => {
    const entities = [1, 2].map((id) =>
      row('note', id, documentId as string, { title: `${id}`, locale: 'en' }),
    );
    const { rows } = await imported({ schemas: [NOTE], entities, links: [] });
    expect(new Set([...rows.keys()].map((key) => key.split(' ')[0])).size).toBe(2);
  });
});

describe('rows that no answer could show as they are', () => {
  it('omits and names a row whose locale no request can name, and keeps one with an empty locale', async () => {
    const page = archivedType('page', { name: { type: 'string' } }, LOCALES);
    const plain = archivedType('plain', { name: { type: 'string' } });
    const locales = ['en_US', '../x', { a: 1 }, 'x'.repeat(50), '', 'de-AT'];
    const { rows, notes, summary } = await imported({
      schemas: [page, plain],
      entities: [
        ...locales.map((locale, n) => row('page', n + 1, `${n}`.padEnd(24, 'p'), { locale })),
        row('plain', 1, 'q'.repeat(24), { locale: '' }),
      ],
    });
    const stored = [...rows.values()].map(({ type, locale }) => [type, locale]);
    expect(stored).toEqual([
      ['api::page.page', 'en'],
      ['api::page.page', 'de-AT'],
      ['api::plain.plain', null],
    ]);
    expect(notes).toEqual([
      'api::page.page: omitted: no request can name its locale en_US (1)',
      'api::page.page: omitted: no request can name its locale ../x (1)',
      'api::page.page: omitted: no request can name its locale {"a":1} (1)',
      `api::page.page: omitted: no request can name its locale ${'x'.repeat(40)} (1)`,
    ]);
    expect(summary.mismatches).toEqual([]);
  });

  it('reads times in milliseconds, and names other values', async () => {
    const { rows, notes } = await imported({
      schemas: [archivedType('page', { name: { type: 'string' } })],
      entities: [
        row('page', 1, 'a'.repeat(24), {
          createdAt: Date.parse(AT),
          updatedAt: '+275760-09-13T00:00:00.000Z',
        }),
        row('page', 2, 'b'.repeat(24), { createdAt: 'yesterday', publishedAt: {} }),
      ],
    });
    const times = [...rows.values()].map((each) => [each.createdAt, each.updatedAt, each.publishedAt]);
    expect(times).toEqual([
      [AT, AT, AT],
      [AT, AT, AT],
    ]);
    const reason = 'not a time: replaced by another time of the row (1)';
    expect(notes).toEqual(
      ['updatedAt', 'createdAt', 'publishedAt'].map((name) => `api::page.page ${name}: ${reason}`),
    );
  });
});
