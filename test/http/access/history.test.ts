import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Ask, createAsk, createTokenOver } from '../../support/access-client.ts';
import { writePageTypes } from '../../support/page-types.ts';
import { type RunningServer, startServer } from '../../support/server.ts';

let server: RunningServer;
/** Callers: full access; an editor of pages; one without drafts; one without the right to see history; one without a token. */
let all: Ask;
let editor: Ask;
let reader: Ask;
let without: Ask;
let anonymous: Ask;
const contentTypes = writePageTypes();

function addType(name: string, schema: object): void {
  const folder = join(contentTypes, 'api', name, 'content-types', name);
  mkdirSync(folder, { recursive: true });
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const text = { kind: 'collectionType', info, options: { draftAndPublish: true }, ...schema };
  writeFileSync(join(folder, 'schema.json'), JSON.stringify(text));
}

beforeAll(async () => {
  const i18n = (localized: boolean) => ({ pluginOptions: { i18n: { localized } } });
  addType('home', { kind: 'singleType', attributes: { title: { type: 'string' } } });
  addType('note', {
    ...i18n(true),
    attributes: { title: { type: 'string', ...i18n(true) }, code: { type: 'string', ...i18n(false) } },
  });
  server = await startServer({ contentTypes });
  const token = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  all = createAsk(server.url, token);
  const allow = ['page.*', 'topic.find', 'note.*', 'home.*'];
  const custom = async (name: string, more: object) =>
    createAsk(server.url, await createTokenOver(all, { name, type: 'custom', allow, ...more }));
  editor = await custom('editor', { drafts: true, history: true });
  without = await custom('without', { drafts: true });
  const readOnly = { name: 'reader', type: 'read-only', history: true } as const;
  reader = createAsk(server.url, await createTokenOver(all, readOnly));
  anonymous = createAsk(server.url);
});
afterAll(async () => {
  await server?.dispose();
  rmSync(contentTypes, { recursive: true, force: true });
});

async function write(method: string, path: string, data?: unknown): Promise<string> {
  const { status, body } = await all(path, { method, ...(data === undefined ? {} : { body: { data } }) });
  expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
  return body?.data?.documentId;
}

async function versionsOf(ask: Ask, path: string, query = '') {
  const { status, body } = await ask(`${path}/versions${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  // biome-ignore lint/suspicious/noExplicitAny: versions have members of every shape.
  return body.data as any[];
}

async function restore(ask: Ask, path: string, version: string): Promise<Answer> {
  return ask(`${path}/actions/restore`, { method: 'POST', body: { data: { version } } });
}

/** Everything that a caller can tell two answers apart by. */
function seen({ status, headers, body }: Answer) {
  const own = [...headers].filter(([name]) => !['date', 'x-request-id', 'keep-alive'].includes(name));
  return { status, headers: own, body };
}

describe('versions of a page', () => {
  let path: string;
  let created: string;
  beforeAll(async () => {
    const author = await write('POST', '/api/authors', { name: 'a' });
    const topic = await write('POST', '/api/topics', { name: 'Sea' });
    const seo = {
      text: 'one two three',
      hidden: 'hidden-value-1',
      author,
      inner: { shown: 's', hidden: 'hidden-value-2' },
    };
    const zone = [{ __component: 'meta.seo', ...seo }];
    const data = {
      title: 'first',
      secret: 'hidden-value-3',
      author,
      topics: [topic],
      seo,
      list: [seo],
      zone,
    };
    path = `/api/pages/${await write('POST', '/api/pages?status=draft', data)}`;
    await write('PUT', path, { title: 'second' });
    await write('PUT', `${path}?status=draft`, { secret: 'hidden-value-4' });
    await write('PUT', `${path}?status=draft`, { title: 'third', seo: { ...seo, text: 'one four three' } });
    created = (await versionsOf(editor, path)).at(-1).id;
  });

  it('says who did what, through what, and to which attributes, newest first', async () => {
    const [newest, ...older] = await versionsOf(editor, path);
    expect(newest).toMatchObject({ status: 'modified', action: 'update', changed: ['seo', 'title'] });
    expect(newest).toMatchObject({ createdBy: { kind: 'token', name: 'all' }, via: 'update', locale: null });
    expect(newest.createdBy.id).toBeUndefined();
    expect(older.map(({ action, status }) => [action, status])).toEqual([
      ['publish', 'published'],
      ['update', 'draft'],
      ['create', 'draft'],
    ]);
    // Full access also lists the change of a private attribute, without its name.
    const whole = await versionsOf(all, path);
    expect(whole.map(({ changed }) => changed)).toEqual([['seo', 'title'], [], null, ['title'], null]);
    expect(whole[0].createdBy.id).toEqual(expect.any(String));
  });

  it('has pages and filters', async () => {
    const { body } = await editor(`${path}/versions?pagination[page]=2&pagination[pageSize]=3`);
    expect(body.meta.pagination).toEqual({ page: 2, pageSize: 3, pageCount: 2, total: 4 });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([created]);
    expect((await versionsOf(editor, path, '?status=published')).map(({ action }) => action)).toEqual([
      'publish',
    ]);
    for (const query of ['?fields=title', '?status=x', '?locale=en&locale=de', '?pagination[cursor]='])
      expect((await editor(`${path}/versions${query}`)).status, query).toBe(400);
  });

  it('shows a version without what the caller may not see, at every depth', async () => {
    const { body } = await editor(`${path}/versions/${created}`);
    const seo = { text: 'one two three', inner: { shown: 's' } };
    expect(body.data).toMatchObject({ title: 'first', seo, list: [seo], publishedAt: null });
    expect(body.data.topics).toEqual([{ documentId: expect.any(String) }]);
    expect(body.meta.version).toMatchObject({ id: created, action: 'create' });
    for (const ask of [editor, all]) {
      const texts = [`versions/${created}`, `versions/${created}/diff`, 'versions'];
      for (const each of texts) {
        const { body: found } = await ask(`${path}/${each}`);
        expect(JSON.stringify(found), each).not.toMatch(/secret|hidden/);
        if (ask === editor) expect(JSON.stringify(found), each).not.toContain('author');
      }
    }
    expect((await all(`${path}/versions/${created}`)).body.data.seo.author).toEqual({
      documentId: expect.any(String),
    });
  });

  it('compares versions, also word by word', async () => {
    const { body } = await editor(`${path}/versions/${created}/diff?format=words`);
    const words = [
      { kind: 'same', text: 'one ' },
      { kind: 'removed', text: 'two' },
      { kind: 'added', text: 'four' },
      { kind: 'same', text: ' three' },
    ];
    expect(body.data.changed).toEqual([
      expect.objectContaining({ path: 'title', from: 'first', to: 'third' }),
      { path: 'seo.text', from: 'one two three', to: 'one four three', words },
    ]);
    expect(body.meta.to).toBe('current');
    const publish = (await versionsOf(editor, path))[1].id;
    const between = await editor(`${path}/versions/${created}/diff?with=${publish}`);
    expect(between.body.data.changed).toEqual([{ path: 'title', from: 'first', to: 'second' }]);
    for (const query of ['?with=x', '?format=lines', '?a=b'])
      expect((await editor(`${path}/versions/${created}/diff${query}`)).status, query).toBe(400);
  });

  it('shows publications alone to a caller who sees no drafts', async () => {
    const versions = await versionsOf(reader, path);
    expect(versions.map(({ action, status }) => [action, status])).toEqual([['publish', 'published']]);
    const [{ id }] = versions;
    expect((await reader(`${path}/versions/${id}`)).body.data.title).toBe('second');
    expect((await reader(`${path}/versions/${created}`)).status).toBe(404);
    expect((await reader(`${path}/versions?status=draft`)).status).toBe(400);
    expect((await reader(`${path}/versions/${id}/diff`)).body.data.changed).toEqual([]);
    expect((await restore(reader, path, id)).status).toBe(403);
  });

  it('restores a version as the draft', async () => {
    const restored = await restore(editor, path, created);
    expect(restored.status, JSON.stringify(restored.body)).toBe(200);
    expect(restored.body.meta).toEqual({ restored: { ignored: [], missing: [] } });
    expect(restored.headers.get('varve-position')).toMatch(/^\d+$/);
    expect((await editor(`${path}/versions/${created}/diff`)).body.data.changed).toEqual([]);
    expect((await versionsOf(editor, path))[0]).toMatchObject({ via: 'restore', status: 'modified' });
    expect((await all(path)).body.data.title).toBe('second');
    for (const version of ['x', 7, '1'])
      expect((await restore(editor, path, version as string)).status, String(version)).not.toBe(200);
  });
});

it('answers callers without the right as if nothing were there', async () => {
  const id = await write('POST', '/api/pages', { title: 'hidden' });
  const [version] = await versionsOf(all, `/api/pages/${id}`);
  const probes = ['', `/${version.id}`, `/${version.id}/diff`].map((rest) => `${id}/versions${rest}`);
  for (const ask of [without, anonymous]) {
    for (const probe of probes) {
      const unknown = probe.replace('versions', 'vorsions');
      expect(seen(await ask(`/api/pages/${probe}`)), probe).toEqual(seen(await ask(`/api/pages/${unknown}`)));
    }
    const asked = { method: 'POST', body: { data: { version: version.id } } };
    expect(seen(await ask(`/api/pages/${id}/actions/restore`, asked))).toEqual(
      seen(await ask(`/api/pages/${id}/actions/restory`, asked)),
    );
    const deleted = await ask('/api/pages/_deleted');
    expect(seen(deleted)).toEqual(seen(await ask('/api/pages/_delated')));
  }
  // With the right, types that the caller may not find and documents that do not exist have one answer.
  const nowhere = seen(await editor('/api/nothing/at/versions'));
  const author = await write('POST', '/api/authors', { name: 'a' });
  for (const path of [`authors/${author}`, 'authors/x', 'pages/x', 'pages/x/versions/1/diff'])
    expect(seen(await editor(`/api/${path}${path.includes('diff') ? '' : '/versions'}`)), path).toEqual(
      nowhere,
    );
});

describe('deleted documents', () => {
  it('are listed newest first with their last values, and come back', async () => {
    const ids = [];
    for (const title of ['one', 'two', 'three'])
      ids.push(
        await write('POST', `/api/notes${title === 'three' ? '?status=draft' : ''}`, { title, code: title }),
      );
    for (const id of ids) await write('DELETE', `/api/notes/${id}`);
    const { status, body } = await editor('/api/notes/_deleted');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['three', 'two', 'one']);
    expect(body.meta).toMatchObject({ pagination: { total: 3 }, next: null });
    expect(body.meta.deletions[0]).toMatchObject({ documentId: ids[2], via: 'delete' });
    const found = await editor('/api/notes/_deleted?filters[title][$contains]=w&fields=title');
    expect(found.body.data).toEqual([{ documentId: ids[1], title: 'two' }]);
    expect((await reader('/api/notes/_deleted')).body.data.map(({ code }: { code: string }) => code)).toEqual(
      ['two', 'one'],
    );
    for (const query of ['?sort=title', '?populate=*', '?before=x', '?_q=a'])
      expect((await editor(`/api/notes/_deleted${query}`)).status, query).toBe(400);
    const related = await editor('/api/pages/_deleted?filters[topics][name]=a');
    expect(related.body.error).toMatchObject({ status: 400, details: { key: 'topics' } });
    const path = `/api/notes/${ids[1]}`;
    expect((await versionsOf(editor, path))[0]).toMatchObject({ action: 'delete', status: null });
    const [deletion] = found.body.meta.deletions;
    expect((await restore(editor, path, deletion.id)).status).toBe(400);
    expect((await restore(editor, path, deletion.version)).status).toBe(200);
    const again = await editor(`${path}?status=draft`);
    expect(again.body.data).toMatchObject({ documentId: ids[1], title: 'two', publishedAt: null });
    expect((await editor('/api/notes/_deleted')).body.data).toHaveLength(2);
    const [first] = (await editor('/api/notes/_deleted?pagination[pageSize]=1')).body.meta.deletions;
    const earlier = await editor(`/api/notes/_deleted?before=${first.id}`);
    expect(earlier.body.data.map(({ title }: { title: string }) => title)).toEqual(['one']);
  });
});

it('follows the locales of a document, with the values that they share', async () => {
  const id = await write('POST', '/api/notes?locale=en', { title: 'Hello', code: 'a' });
  await write('PUT', `/api/notes/${id}?locale=de`, { title: 'Hallo' });
  await write('PUT', `/api/notes/${id}?locale=en&status=draft`, { code: 'b' });
  const path = `/api/notes/${id}`;
  const [shared] = await versionsOf(editor, path, '?locale=de');
  expect(shared).toMatchObject({ locale: 'de', changed: ['code'], status: 'modified', action: 'update' });
  const version = await editor(`${path}/versions/${shared.id}?locale=de`);
  expect(version.body.data).toMatchObject({ title: 'Hallo', code: 'b', locale: 'de' });
  const german = (await versionsOf(editor, path, '?locale=de')).at(-1).id;
  expect((await restore(editor, path, german)).body.data).toMatchObject({ locale: 'de', code: 'a' });
});

it('keeps the history of a single type, also of one that was deleted', async () => {
  await write('PUT', '/api/home', { title: 'Welcome' });
  await write('PUT', '/api/home', { title: 'Hello' });
  await write('DELETE', '/api/home');
  const versions = await versionsOf(editor, '/api/home');
  expect(versions.map(({ action }) => action)).toEqual(['delete', 'publish', 'update', 'publish', 'create']);
  const first = versions.at(-1).id;
  expect((await editor(`/api/home/versions/${first}`)).body.data.title).toBe('Welcome');
  expect((await restore(editor, '/api/home', first)).status).toBe(200);
  expect((await editor('/api/home?status=draft')).body.data.title).toBe('Welcome');
  expect((await editor(`/api/home/versions/${first}/diff`)).body.data.changed).toEqual([]);
  expect((await without('/api/home/versions')).status).toBe(404);
});

it('names what a restore cannot bring back', async () => {
  const topic = await write('POST', '/api/topics', { name: 'gone' });
  const kept = await write('POST', '/api/topics', { name: 'kept' });
  const id = await write('POST', '/api/pages', { title: 't', topics: [topic, kept] });
  const path = `/api/pages/${id}`;
  const created = (await versionsOf(editor, path)).at(-1).id;
  await write('DELETE', `/api/topics/${topic}`);
  const { body } = await restore(editor, path, created);
  expect(body.meta.restored).toEqual({ ignored: [], missing: [{ path: 'topics', documentId: topic }] });
  expect((await editor(`${path}/versions/${created}/diff`)).body.data.changed).toEqual([
    { path: 'topics', added: [], removed: [{ at: 0, value: { documentId: topic } }] },
  ]);
});
