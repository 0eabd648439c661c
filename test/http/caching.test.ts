import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { postForm, uploadForm } from '../support/upload-client.ts';

let server: RunningServer;
let api: ApiClient;
let documentId: string;
beforeAll(async () => {
  server = await startServer();
  api = createApiClient(server.url);
  ({ documentId } = await api.data<{ documentId: string }>('POST', '/api/tags', {
    data: { key: 'a', name: 'a' },
  }));
});
afterAll(() => server?.dispose());

const ask = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  fetch(server.url + path, { method, headers });

const etagOf = async (answer: Promise<Response>): Promise<string> => {
  const { status, headers } = await answer;
  expect(status).toBe(200);
  return headers.get('etag') ?? 'none';
};

describe('an answer', () => {
  it('has a strong ETag, which stays the same while its bytes stay the same', async () => {
    const etag = await etagOf(ask('/api/tags'));
    expect(etag).toMatch(/^"[\w-]{15,24}"$/);
    expect(await etagOf(ask('/api/tags'))).toBe(etag);
    expect(await etagOf(ask('/api/tags', {}, 'HEAD'))).toBe(etag);
    const entry = await etagOf(ask(`/api/tags/${documentId}`));
    await api.data('PUT', `/api/tags/${documentId}`, { data: { name: 'b' } });
    expect(await etagOf(ask('/api/tags'))).not.toBe(etag);
    expect(await etagOf(ask(`/api/tags/${documentId}`))).not.toBe(entry);
  });

  it.each([
    '/api/tags',
    '/api/tags?fields=name',
    '/api/i18n/locales',
    '/api/content-type-builder/components',
  ])('is a 304 without a body for a caller that has it: %s', async (path) => {
    const etag = await etagOf(ask(path));
    for (const header of [etag, `"other", W/${etag}`, '*']) {
      const again = await ask(path, { 'if-none-match': header });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
      expect(again.headers.get('vary')).toContain('Varve-Min-Position');
      expect(again.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
      expect(again.headers.get('content-type')).toBeNull();
    }
    const other = await ask(path, { 'if-none-match': '"other"' });
    expect([other.status, other.headers.get('etag')]).toEqual([200, etag]);
    await other.text();
  });

  it('is a 304 until a write changes it, and then a 200', async () => {
    const etag = await etagOf(ask(`/api/tags/${documentId}`));
    await api.data('POST', '/api/tags', { data: { key: 'other', name: 'other' } });
    const same = await ask(`/api/tags/${documentId}`, { 'if-none-match': etag });
    expect(same.status).toBe(304);
    await api.data('PUT', `/api/tags/${documentId}`, { data: { name: 'c' } });
    const changed = await ask(`/api/tags/${documentId}`, { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({ data: { name: 'c' } });
  });

  it('has another ETag in the form of Strapi 4', async () => {
    const v4 = { 'strapi-response-format': 'v4' };
    const etag = await etagOf(ask('/api/tags'));
    const other = await etagOf(ask('/api/tags', v4));
    expect(other).not.toBe(etag);
    expect(await etagOf(ask('/api/tags', v4))).toBe(other);
    expect((await ask('/api/tags', { ...v4, 'if-none-match': etag })).status).toBe(200);
    expect((await ask('/api/tags', { ...v4, 'if-none-match': other })).status).toBe(304);
  });

  it('has an ETag for files and users too', async () => {
    const form = await postForm(server, uploadForm([{ name: 'a.txt', bytes: 'a' }]));
    expect(form.status).toBe(201);
    const etag = await etagOf(ask('/api/upload/files'));
    expect((await ask('/api/upload/files', { 'if-none-match': etag })).status).toBe(304);
    const users = await etagOf(ask('/api/users'));
    expect((await ask('/api/users', { 'if-none-match': users })).status).toBe(304);
  });
});

describe('caches', () => {
  it('may share an answer to a request without a token, and must revalidate it', async () => {
    const { headers } = await ask('/api/tags');
    expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
    expect(headers.get('vary')).toBe('Varve-Min-Position, Strapi-Response-Format');
  });

  it('keep pages of changes apart from the stream at the same address', async () => {
    const vary = 'Accept, Varve-Min-Position, Strapi-Response-Format';
    const path = '/api/_changes?types=tags';
    const page = await ask(path);
    expect([page.status, page.headers.get('vary')]).toEqual([200, vary]);
    const again = await ask(path, { 'if-none-match': page.headers.get('etag') ?? '' });
    expect([again.status, again.headers.get('vary')]).toEqual([304, vary]);
    const stream = await ask(path, { accept: 'text/event-stream', origin: server.url });
    await stream.body?.cancel();
    expect([stream.headers.get('content-type'), stream.headers.get('vary')]).toEqual([
      'text/event-stream; charset=utf-8',
      expect.stringMatching(/(^|, )Accept$/),
    ]);
  });

  it.each([
    ['a draft', '/api/chefs?status=draft', {}, 200],
    ['drafts that are named otherwise', '/api/chefs?%73tatus=draft', {}, 200],
    ['an error', '/api/tags?sort=nope', {}, 400],
    ['an entry that is not there', '/api/tags/nobody', {}, 404],
    ['an unknown path', '/api/nothing', {}, 404],
    ['the position of a write', '/api/tags', { 'varve-min-position': '1' }, 200],
  ])('store nothing of %s', async (_, path, headers, status) => {
    for (let i = 0; i < 2; i++) {
      const answer = await ask(path, headers as Record<string, string>);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store']);
    }
  });
});

describe('with tokens', () => {
  it('an answer is private, and has the ETag of the rights of its token', async () => {
    const own = await startServer();
    onTestFinished(() => own.dispose());
    const open = createAsk(own.url);
    await open('/api/tags', { method: 'POST', body: { data: { key: 'a', name: 'a' } } });
    const full = await createTokenOver(open, { name: 'full', type: 'full-access' });
    const administrator = createAsk(own.url, full);
    const tokens = [
      await createTokenOver(administrator, { name: 'a', type: 'custom', allow: ['tag.find'] }),
      await createTokenOver(administrator, { name: 'b', type: 'custom', allow: ['tag.find'] }),
      await createTokenOver(administrator, { name: 'c', type: 'custom', allow: ['tag.find', 'chef.find'] }),
    ];
    const answers = await Promise.all(tokens.map((token) => createAsk(own.url, token)('/api/tags')));
    const rules = answers.map(({ headers }) => headers.get('cache-control'));
    expect(new Set(rules)).toEqual(new Set(['private, max-age=0, must-revalidate']));
    const refused = [
      await open('/api/tags'),
      await createAsk(own.url, 'nobody')('/api/tags'),
      await createAsk(own.url, tokens[0])('/api/chefs'),
    ];
    expect(refused.map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual([
      [403, 'no-store'],
      [401, 'no-store'],
      [403, 'no-store'],
    ]);
    const [a, b, c] = answers.map(({ headers }) => headers.get('etag'));
    expect(a).toBe(b);
    expect(c).not.toBe(a);
  });
});

it(
  'has the same ETag after a restart, and in every process of its log',
  takesMinutes('ETags of several processes'),
  async () => {
    const folder = createDataDirectory();
    const log = ['--event-store', `sqlite:${join(folder, 'events.db')}`];
    const first = await startServer({ data: join(folder, 'a'), arguments: log });
    onTestFinished(() => first.dispose());
    const client = createApiClient(first.url);
    const { headers } = await client.call('POST', '/api/tags', { data: { key: 'a', name: 'a' } });
    const position = headers.get('varve-position') ?? '';
    const second = await startServer({ data: join(folder, 'b'), arguments: log });
    onTestFinished(() => second.dispose());
    const etagAt = async (url: string) => {
      const answer = await fetch(`${url}/api/tags`, { headers: { 'varve-min-position': position } });
      expect(answer.status).toBe(200);
      return answer.headers.get('etag');
    };
    const etag = await etagAt(first.url);
    expect(await etagAt(second.url)).toBe(etag);
    await first.stop();
    const again = await startServer({ data: join(folder, 'a'), arguments: log });
    onTestFinished(() => again.dispose());
    expect(await etagAt(again.url)).toBe(etag);
  },
);
