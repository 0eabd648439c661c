import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

let server: RunningServer;
let api: ApiClient;
beforeAll(async () => {
  server = await startServer();
  api = createApiClient(server.url);
});
afterAll(() => server?.dispose());

const create = async (client: ApiClient, key: string): Promise<string> => {
  const { documentId } = await client.data<{ documentId: string }>('POST', '/api/chefs', {
    data: { key, name: key },
  });
  return documentId;
};

type Seen = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
};

async function read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
  const answer = await fetch(url, { headers });
  const names = ['etag', 'cache-control', 'vary', 'content-type', 'content-length'];
  return {
    status: answer.status,
    headers: names.map((name) => [name, answer.headers.get(name) ?? ''] as const),
    body: await answer.text(),
  };
}

/** Returns the number of requests that the server has answered without a query. */
async function hitsOf(url: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(/^varve_answer_cache_hits_total (\d+)/m.exec(text)?.[1]);
}

/** Asks until the answer comes from the cache. All answers must be equal. */
async function readFromCache(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
  const first = await read(url, headers);
  for (let i = 0; i < 2; i++) expect(await read(url, headers)).toEqual(first);
  return first;
}

describe('an answer that is requested again', () => {
  it('comes from the cache, with the same bytes and headers, until a write changes it', async () => {
    const documentId = await create(api, 'again');
    const url = `${server.url}/api/chefs?filters[key]=again`;
    const before = await hitsOf(server.url);
    const first = await readFromCache(url);
    expect(await hitsOf(server.url)).toBe(before + 1);
    await create(api, 'another');
    expect(await read(url)).toEqual(first);
    expect(await hitsOf(server.url)).toBe(before + 2);
    await api.data('PUT', `/api/chefs/${documentId}`, { data: { name: 'changed' } });
    const changed = await readFromCache(url);
    expect(changed.body).toContain('changed');
    expect(changed.headers).not.toEqual(first.headers);
  });

  it('shows a write to its author at once', async () => {
    const documentId = await create(api, 'own');
    const url = `${server.url}/api/chefs/${documentId}`;
    for (let i = 0; i < 30; i++) {
      await readFromCache(url);
      const name = `name ${i}`;
      const { headers } = await api.call('PUT', `/api/chefs/${documentId}`, { data: { name } });
      const position = headers.get('varve-position') ?? '';
      const own = await read(url, { 'varve-min-position': position });
      expect(JSON.parse(own.body)).toMatchObject({ data: { name } });
      expect(own.headers).toContainEqual(['cache-control', 'no-store']);
      expect(JSON.parse((await read(url)).body)).toMatchObject({ data: { name } });
    }
  });

  it('differs for the form of Strapi 4, and for drafts', async () => {
    await create(api, 'forms');
    const url = `${server.url}/api/chefs?filters[key]=forms`;
    const own = await readFromCache(url);
    const v4 = await readFromCache(url, { 'strapi-response-format': 'v4' });
    const draft = await readFromCache(`${url}&status=draft`);
    expect(JSON.parse(v4.body).data[0]).toHaveProperty('attributes');
    expect(JSON.parse(own.body).data[0]).not.toHaveProperty('attributes');
    expect(draft.headers).toContainEqual(['cache-control', 'no-store']);
    expect(await readFromCache(url)).toEqual(own);
  });

  it('has an empty body for HEAD, and is a 304 for a client that has it', async () => {
    const url = `${server.url}/api/chefs?filters[key]=forms`;
    const { headers, body } = await readFromCache(url);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(Buffer.byteLength(body)),
      '',
    ]);
    const etag = headers[0]?.[1] ?? '';
    expect((await read(url, { 'if-none-match': etag })).status).toBe(304);
    expect((await read(url, { 'if-none-match': '"other"' })).body).toBe(body);
  });

  it('is never an error', async () => {
    const url = `${server.url}/api/chefs/nobody`;
    expect((await readFromCache(url)).status).toBe(404);
    expect((await readFromCache(`${server.url}/api/chefs?sort=nope`)).status).toBe(400);
  });
});

it('is separate for callers with other rights, and not used for a revoked token', async () => {
  const own = await startServer();
  onTestFinished(() => own.dispose());
  const open = createAsk(own.url);
  await create(createApiClient(own.url), 'a');
  const full = await createTokenOver(open, { name: 'full', type: 'full-access' });
  const administrator = createAsk(own.url, full);
  const custom = async (name: string, drafts: boolean) => {
    const data = { name, type: 'custom', allow: ['chef.find'], drafts } as const;
    return { authorization: `Bearer ${await createTokenOver(administrator, data)}` };
  };
  const [narrow, same, wide] = [await custom('a', false), await custom('b', false), await custom('c', true)];
  const url = `${own.url}/api/chefs`;
  const drafts = `${url}?status=draft`;
  expect((await readFromCache(drafts, wide)).status).toBe(200);
  expect((await readFromCache(drafts, narrow)).status).toBe(400);
  expect((await readFromCache(drafts)).status).toBe(403);
  const first = await readFromCache(url, narrow);
  expect(first.status).toBe(200);
  const before = await hitsOf(own.url, full);
  expect(await read(url, same)).toEqual(first);
  expect(await hitsOf(own.url, full)).toBe(before + 1);
  expect((await read(url)).status).toBe(403);
  const { body } = await administrator('/_varve/tokens');
  const { id } = body.data.find(({ name }: { readonly name: string }) => name === 'a');
  expect((await administrator(`/_varve/tokens/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
  expect((await read(url, narrow)).status).toBe(401);
  expect(await read(url, same)).toEqual(first);
  await administrator('/_varve/public', { method: 'PUT', body: { data: { allow: ['chef.find'] } } });
  expect((await readFromCache(url)).status).toBe(200);
  await administrator('/_varve/public', { method: 'PUT', body: { data: { allow: [] } } });
  expect((await read(url)).status).toBe(403);
});

it('stores nothing if it is off', takesMinutes('servers without a cache'), async () => {
  const own = await startServer({ arguments: ['--answer-cache-bytes', '0'] });
  onTestFinished(() => own.dispose());
  await create(createApiClient(own.url), 'a');
  const { headers } = await readFromCache(`${own.url}/api/chefs`);
  expect(await hitsOf(own.url)).toBe(0);
  const etag = headers[0]?.[1] ?? '';
  for (let i = 0; i < 2; i++)
    expect((await read(`${own.url}/api/chefs`, { 'if-none-match': etag })).status).toBe(304);
  expect(await hitsOf(own.url)).toBe(1);
});

it(
  'shows writes of another process on the same log',
  takesMinutes('caches of several processes'),
  async () => {
    const folder = createDataDirectory();
    const log = ['--event-store', `sqlite:${join(folder, 'events.db')}`];
    const servers = [];
    for (const name of ['a', 'b']) {
      const one = await startServer({ data: join(folder, name), arguments: log });
      onTestFinished(() => one.dispose());
      servers.push(one);
    }
    const [first, second] = servers as [RunningServer, RunningServer];
    const client = createApiClient(first.url);
    const documentId = await create(client, 'a');
    for (let i = 0; i < 10; i++) {
      const { headers } = await client.call('PUT', `/api/chefs/${documentId}`, {
        data: { name: `name ${i}` },
      });
      const position = headers.get('varve-position') ?? '';
      for (const url of [second.url, first.url]) {
        const answer = await read(`${url}/api/chefs`, { 'varve-min-position': position });
        expect(JSON.parse(answer.body).data[0].name).toBe(`name ${i}`);
        await readFromCache(`${url}/api/chefs`);
      }
    }
    expect(await hitsOf(second.url)).toBeGreaterThan(9);
  },
);
