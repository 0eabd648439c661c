import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';

const folder = createDataDirectory();
const serveLog = (name: string, ...settings: readonly string[]) =>
  startServer({
    data: join(folder, name),
    arguments: ['--event-store', `sqlite:${join(folder, 'events.db')}`, ...settings],
  });
let server: RunningServer;
let api: ApiClient;
let documentId: string;
beforeAll(async () => {
  server = await serveLog('a', '--cache-tags', 'cloudfront', '--cache-tags-plain', 'true');
  api = createApiClient(server.url);
  for (let i = 0; i < 60; i++)
    ({ documentId } = await api.data<{ documentId: string }>('POST', '/api/tags', {
      data: { key: `t${i}`, name: 'a' },
    }));
});
afterAll(() => server?.dispose());

const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(server.url + path, { headers });
const tagsOf = async (answer: Promise<Response>): Promise<readonly string[]> =>
  (await answer).headers.get('cache-tag')?.split(',') ?? [];
const entry = () => `/api/tags/${documentId}`;

describe('tags in a header', () => {
  it('are always the same, also on a cached answer and a 304', async () => {
    const tags = await tagsOf(ask(entry()));
    expect(tags).toEqual(expect.arrayContaining(['tags', `tags:${documentId}`]));
    for (let i = 0; i < 3; i++) expect(await tagsOf(ask(entry()))).toEqual(tags);
    const { headers } = await ask(entry());
    const again = await ask(entry(), { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.headers.get('cache-tag')]).toEqual([304, tags.join(',')]);
  });

  it('are at most as many as the receiver accepts', async () => {
    const few = await tagsOf(ask('/api/tags?pagination[pageSize]=3&sort=id'));
    const many = await tagsOf(ask('/api/tags?pagination[pageSize]=60&sort=id'));
    expect(few.filter((tag) => tag.startsWith('tags:'))).toHaveLength(3);
    expect(many.filter((tag) => tag.startsWith('tags'))).toEqual(['tags']);
    expect(many.length).toBeLessThanOrEqual(50);
  });

  it.each([
    ['a draft', '/api/chefs?status=draft', {}],
    ['an answer to the position of a write', '/api/tags', { 'varve-min-position': '1' }],
    ['an error', '/api/tags?sort=nope', {}],
  ])('are not on %s', async (_, path, headers) => {
    for (let i = 0; i < 3; i++)
      expect(await tagsOf(ask(path, headers as Readonly<Record<string, string>>))).toEqual([]);
  });

  it('are on a 404 too, so that a new document purges it', async () => {
    const missing = await ask('/api/tags/nobody');
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(missing.headers.get('cache-tag')?.split(',')).toContain('tags:nobody');
    expect(await tagsOf(ask('/api/nothing'))).toEqual([]);
  });
});

it('are the same in every process of a log', async () => {
  const second = await serveLog('b', '--cache-tags', 'varnish');
  onTestFinished(() => second.dispose());
  const tags = await tagsOf(ask(entry()));
  const { headers } = await fetch(second.url + entry());
  const opaque = tags.filter((tag) => !tag.startsWith('tags'));
  expect(headers.get('xkey')?.split(' ')).toEqual(opaque);
  expect(opaque.length).toBeGreaterThan(1);
  expect(headers.get('cache-tag')).toBeNull();
});

it('are on the 404 of a single type, and never on answers to a token', async () => {
  const contentTypes = mkdtempSync(join(tmpdir(), 'varve-single-'));
  const schema = {
    kind: 'singleType',
    info: { singularName: 'homepage', pluralName: 'homepages', displayName: 'Homepage' },
    attributes: { title: { type: 'string' } },
  };
  writeFileSync(join(contentTypes, 'homepage.json'), JSON.stringify(schema));
  const own = await startServer({ contentTypes, arguments: ['--cache-tags', 'fastly'] });
  onTestFinished(async () => {
    await own.dispose();
    rmSync(contentTypes, { recursive: true });
  });
  const open = createAsk(own.url);
  const administrator = createAsk(own.url, await createTokenOver(open, { name: 'a', type: 'full-access' }));
  const body = { data: { allow: ['homepage.find'] } };
  await administrator('/_varve/public', { method: 'PUT', body });
  const missing = await open('/api/homepage');
  expect([missing.status, missing.headers.get('surrogate-key')]).toEqual([404, expect.any(String)]);
  await administrator('/api/homepage', { method: 'PUT', body: { data: { title: 'a' } } });
  const shown = (await open('/api/homepage')).headers.get('surrogate-key')?.split(' ') ?? [];
  expect(shown).toEqual(expect.arrayContaining(missing.headers.get('surrogate-key')?.split(' ') ?? ['']));
  for (let i = 0; i < 3; i++)
    expect((await administrator('/api/homepage')).headers.get('surrogate-key')).toBeNull();
});
