import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const contentTypes = mkdtempSync(join(tmpdir(), 'varve-single-'));
let server: RunningServer;
let api: ApiClient;

beforeAll(async () => {
  const schema = {
    kind: 'singleType',
    info: { singularName: 'homepage', pluralName: 'homepages', displayName: 'Homepage' },
    options: { draftAndPublish: true },
    attributes: { title: { type: 'string' }, motto: { type: 'string' } },
  };
  writeFileSync(join(contentTypes, 'homepage.json'), JSON.stringify(schema));
  server = await startServer({ contentTypes });
  api = createApiClient(server.url);
});
afterAll(async () => {
  await server?.dispose();
  rmSync(contentTypes, { recursive: true });
});

it('a single type is one document, also when several first PUTs come at the same time', async () => {
  expect((await api.call('GET', '/api/homepage')).status).toBe(404);
  const nothing = await api.call('DELETE', '/api/homepage');
  expect(nothing.status).toBe(204);
  expect(nothing.headers.get('varve-position')).toMatch(/^\d+$/);
  // Strapi only checks the names of parameters while there is no entry.
  expect((await api.call('DELETE', '/api/homepage?locale=x_y&status=x&page=0')).status).toBe(204);
  expect((await api.call('DELETE', '/api/homepage?foo=1')).status).toBe(400);
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((title) =>
      api.call<{ documentId: string }>('PUT', '/api/homepage', { data: { title } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(answers.map(({ data }) => data.documentId)).size).toBe(1);
  const { documentId } = await api.data<{ documentId: string }>('PUT', '/api/homepage', {
    data: { motto: 'm' },
  });
  expect(documentId).toBe(answers[0]?.data.documentId);
  expect(await api.data('GET', '/api/homepage')).toMatchObject({
    documentId,
    motto: 'm',
    title: expect.stringMatching(/^[a-e]$/),
  });
});

it('has versions, fields and strict parameters like any entry, and no list', async () => {
  await api.data('PUT', '/api/homepage?status=draft', { data: { title: 'draft' } });
  expect(await api.data('GET', '/api/homepage?status=draft&fields=title')).toMatchObject({ title: 'draft' });
  expect(await api.data('GET', '/api/homepage')).not.toMatchObject({ title: 'draft' });
  expect(await api.call('GET', '/api/homepage?foo=1')).toMatchObject({
    status: 400,
    error: { message: 'Invalid key foo' },
  });
  expect((await api.call('GET', '/api/homepages')).status).toBe(404);
});

it.each([
  ['foo=1&locale=x_y', {}, 'Invalid key foo'],
  ['locale=x_y', {}, 'Missing "data" payload in the request body'],
  ['locale=x_y', { data: { foo: 1 } }, 'Invalid key foo'],
  ['page=0', { data: { foo: 1 } }, 'Invalid key foo'],
  ['locale=x_y', { data: { title: 5 } }, /^Invalid parameter at 'locale'/],
])('a write names what is wrong in the order of Strapi: %s %j', async (query, body, message) => {
  expect(await api.call('PUT', `/api/homepage?${query}`, body)).toMatchObject({
    status: 400,
    error: { message: typeof message === 'string' ? message : expect.stringMatching(message) },
  });
});

it('is gone after DELETE, and can be made again', async () => {
  expect((await api.call('DELETE', '/api/homepage')).status).toBe(204);
  expect((await api.call('GET', '/api/homepage?status=draft')).status).toBe(404);
  await api.data('PUT', '/api/homepage', { data: { title: 'again' } });
  expect(await api.data('GET', '/api/homepage')).toMatchObject({ title: 'again', motto: null });
});
