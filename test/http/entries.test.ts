import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

type Article = {
  readonly documentId: string;
  readonly title: string;
  readonly locale: string;
  readonly publishedAt: string | null;
};

let server: RunningServer;
let api: ApiClient;
beforeAll(async () => {
  server = await startServer({ env: { VARVE_USERS_ENVELOPE: 'true' } });
  api = createApiClient(server.url);
});
afterAll(() => server?.dispose());

describe('actions', () => {
  it('publish, unpublish and discard a draft', async () => {
    const { documentId } = await api.data<Article>('POST', '/api/chefs?status=draft', {
      data: { key: 'a', name: 'one' },
    });
    const path = `/api/chefs/${documentId}`;
    expect((await api.call('GET', path)).status).toBe(404);
    expect(await api.data('POST', `${path}/actions/publish`)).toMatchObject({
      documentId,
      name: 'one',
      publishedAt: expect.any(String),
    });
    await api.data('PUT', `${path}?status=draft`, { data: { name: 'two' } });
    expect(await api.data('GET', path)).toMatchObject({ name: 'one' });
    expect(await api.data('GET', `${path}?status=draft`)).toMatchObject({ name: 'two' });
    expect(await api.data('POST', `${path}/actions/discard-draft`)).toMatchObject({
      name: 'one',
      publishedAt: null,
    });
    expect(await api.data('POST', `${path}/actions/unpublish`)).toMatchObject({
      name: 'one',
      publishedAt: null,
    });
    expect((await api.call('GET', path)).status).toBe(404);
    expect(await api.data('GET', `${path}?status=draft`)).toMatchObject({ name: 'one' });
  });

  it('answer as the query string requests, and refuse an invalid query string before anything changes', async () => {
    const { documentId } = await api.data<Article>('POST', '/api/chefs?status=draft', {
      data: { key: 'b', name: 'one' },
    });
    const path = `/api/chefs/${documentId}`;
    const refused = await api.call('POST', `${path}/actions/publish?populate=nope`);
    expect(refused).toMatchObject({ status: 400, error: { message: 'Invalid key nope' } });
    expect((await api.call('GET', path)).status).toBe(404);
    expect(await api.data('POST', `${path}/actions/publish?fields=name`)).toEqual({
      id: expect.any(Number),
      documentId,
      name: 'one',
    });
  });

  it('are a 404 for a missing document, and for an unknown action', async () => {
    expect((await api.call('POST', '/api/chefs/nope/actions/publish')).status).toBe(404);
    expect((await api.call('GET', '/api/chefs/nope/actions/archive')).status).toBe(404);
  });
});

describe('writes', () => {
  it('return their position in the log', async () => {
    const first = await api.call<Article>('POST', '/api/tags', { data: { key: 'p1', name: 'x' } });
    const second = await api.call('PUT', `/api/tags/${first.data.documentId}`, { data: { name: 'y' } });
    const [before, after] = [first, second].map(({ headers }) =>
      BigInt(headers.get('varve-position') ?? '0'),
    );
    expect(before).toBeGreaterThan(0n);
    expect(after).toBeGreaterThan(before ?? 0n);
  });

  it('to one document at the same time are all kept', async () => {
    const { documentId } = await api.data<Article>('POST', '/api/restaurants', { data: { key: 'many' } });
    const fields = ['name', 'description', 'story', 'slug'];
    const answers = await Promise.all(
      fields.map((field) => api.call('PUT', `/api/restaurants/${documentId}`, { data: { [field]: field } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const entry = await api.data('GET', `/api/restaurants/${documentId}`);
    expect(entry).toMatchObject(Object.fromEntries(fields.map((field) => [field, field])));
  });
});

describe('DELETE', () => {
  const createArticle = async (key: string) => {
    const { documentId } = await api.data<Article>('POST', '/api/articles', { data: { key, title: 'en' } });
    await api.data('PUT', `/api/articles/${documentId}?locale=fr`, { data: { title: 'fr' } });
    return documentId;
  };
  const localesOf = async (documentId: string) => {
    const query = `locale=*&sort=locale&filters[documentId]=${documentId}`;
    return (await api.data<Article[]>('GET', `/api/articles?${query}`)).map(({ locale }) => locale);
  };

  it.each([
    ['', ['fr']],
    ['locale=fr', ['en']],
    ['locale=*', []],
    ['locale=de', ['en', 'fr']],
    ['filters[title]=en', ['fr']],
    ['filters[title]=fr', ['en', 'fr']],
    ['filters[title]=fr&locale=fr', ['en']],
    ['filters[title]=fr&locale=*', ['en']],
    // A filter by locale restricts the parameter `locale`, but does not replace it.
    ['filters[locale]=fr', ['en', 'fr']],
    ['filters[documentId]=other', ['en', 'fr']],
  ])('?%s leaves %j', async (query, left) => {
    const documentId = await createArticle(`d-${query}`);
    const answer = await api.call('DELETE', `/api/articles/${documentId}?${query}`);
    expect(answer.status).toBe(204);
    expect(await localesOf(documentId)).toEqual(left);
    expect((await api.call('DELETE', `/api/articles/${documentId}?locale=*`)).status).toBe(204);
  });

  it('a filter may match only the draft', async () => {
    const { documentId } = await api.data<Article>('POST', '/api/chefs', {
      data: { key: 'f', name: 'published' },
    });
    await api.data('PUT', `/api/chefs/${documentId}?status=draft`, { data: { name: 'draft' } });
    await api.call('DELETE', `/api/chefs/${documentId}?filters[name]=draft`);
    expect((await api.call('GET', `/api/chefs/${documentId}`)).status).toBe(404);
  });
});

describe('users, in the envelope of every collection', () => {
  it('are listed, counted, read, written and removed by number', async () => {
    const body = { username: 'ada', email: 'Ada@Example.com', password: 'Passw0rd!', role: 1 };
    const created = await api.data<{ id: number; documentId: string }>('POST', '/api/users', body);
    expect(created).toMatchObject({ username: 'ada', email: 'ada@example.com' });
    expect(JSON.stringify(created)).not.toContain('assw');
    expect(await api.call('GET', '/api/users')).toMatchObject({
      data: [created],
      meta: { pagination: { total: 1 } },
    });
    const count = await fetch(`${server.url}/api/users/count`);
    expect(await count.json()).toBe(1);
    expect(await api.data('GET', `/api/users/${created.id}`)).toEqual(created);
    expect(await api.data('PUT', `/api/users/${created.id}`, { username: 'bea' })).toMatchObject({
      username: 'bea',
    });
    expect(await api.data('DELETE', `/api/users/${created.id}`)).toMatchObject({ username: 'bea' });
    expect((await api.call('GET', `/api/users/${created.id}`)).status).toBe(404);
  });

  it('refuse unknown parameters, and an id that is not a number', async () => {
    expect(await api.call('GET', '/api/users?foo=1')).toMatchObject({
      status: 400,
      error: { message: 'Invalid key foo' },
    });
    expect(await api.call('GET', '/api/users/abc')).toMatchObject({
      status: 400,
      error: { name: 'ValidationError' },
    });
    expect((await api.call('GET', '/api/users/me')).status).toBe(403);
  });
});
