import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, png, SVG, send, upload } from '../support/upload-client.ts';

const BYTES = '0123456789'.repeat(1000);

let server: RunningServer;
let file: FileAnswer;
beforeAll(async () => {
  server = await startServer();
  [file] = (await upload(server, [{ name: 'digits äö.txt', bytes: BYTES }])) as [FileAnswer];
});
afterAll(() => server?.dispose());

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.url + file.url, { method, headers });

describe('GET /uploads/<name>.<ext>', () => {
  it('returns the content, which may be cached permanently', async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '10000',
      'cache-control': 'public, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: `"${file.hash}"`,
      'content-disposition': `inline; filename="digits ??.txt"; filename*=UTF-8''digits%20%C3%A4%C3%B6.txt`,
    });
    expect(await answer.text()).toBe(BYTES);
  });

  it('ignores the Range of a HEAD, as RFC 9110 says', async () => {
    const { status, headers } = await get({ range: 'bytes=0-3' }, 'HEAD');
    expect([status, headers.get('content-range')]).toEqual([200, null]);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const [head, whole] = [await get({}, 'HEAD'), await get()];
    const headers = (answer: Response) =>
      [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
    expect(headers(head)).toEqual(headers(whole));
    expect(await head.text()).toBe('');
    await whole.body?.cancel();
  });

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10000'],
    ['bytes=9998-', '89', 'bytes 9998-9999/10000'],
    ['bytes=-2', '89', 'bytes 9998-9999/10000'],
    ['bytes=9999-20000', '9', 'bytes 9999-9999/10000'],
    ['bytes=0-1,2-3', '0123', 'bytes 0-3/10000'],
  ])('answers Range %s with 206', async (range, text, contentRange) => {
    const answer = await get({ range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(contentRange);
    expect(answer.headers.get('content-length')).toBe(String(text.length));
    expect(await answer.text()).toBe(text);
  });

  it.each(['bytes=10000-', 'bytes=20000-30000', 'bytes=-0', 'bytes=5-1'])(
    'answers Range %s with 416',
    async (range) => {
      const answer = await get({ range });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([416, 'no-store']);
      expect(answer.headers.get('content-range')).toBe('bytes */10000');
      expect(await answer.text()).toBe('');
    },
  );

  it.each(['lines=1-2', 'bytes', 'bytes=0-0,100-100'])(
    'answers Range %s, which is invalid or several ranges, with the whole content',
    async (range) => {
      const answer = await get({ range });
      expect([answer.status, (await answer.text()).length]).toEqual([200, 10_000]);
    },
  );

  it('answers Last-Modified, and If-Modified-Since if the request has no tag', async () => {
    const since = (await get({})).headers.get('last-modified') ?? '';
    expect(since).toBe(new Date(since).toUTCString());
    const earlier = new Date(Date.parse(since) - 1000).toUTCString();
    const statusOf = async (headers: Record<string, string>) => (await get(headers)).status;
    expect([
      await statusOf({ 'if-modified-since': since }),
      await statusOf({ 'if-modified-since': earlier }),
      await statusOf({ 'if-modified-since': 'no date' }),
      await statusOf({ 'if-modified-since': since, 'if-none-match': '"other"' }),
    ]).toEqual([304, 200, 200, 200]);
  });

  it('sends a range with If-Range only if the content is the same', async () => {
    const same = await get({ range: 'bytes=0-3', 'if-range': `"${file.hash}"` });
    expect([same.status, await same.text()]).toEqual([206, '0123']);
    const other = await get({ range: 'bytes=0-3', 'if-range': '"other"' });
    expect([other.status, (await other.text()).length]).toEqual([200, 10_000]);
  });

  it.each<[string, (tag: string) => string]>([
    ['its tag', (tag) => tag],
    ['its tag, weak', (tag) => `W/${tag}`],
    ['a list with it', (tag) => `"x", ${tag}`],
    ['any', () => '*'],
  ])('answers If-None-Match of %s with 304', async (_, header) => {
    const answer = await get({ 'if-none-match': header(`"${file.hash}"`) });
    expect(answer.status).toBe(304);
    expect(answer.headers.get('etag')).toBe(`"${file.hash}"`);
    expect(await answer.text()).toBe('');
  });

  it('answers If-None-Match of another tag with the content', async () => {
    expect((await get({ 'if-none-match': '"x"' })).status).toBe(200);
  });
});

describe('what is never served', () => {
  it.each([
    ['another extension', () => file.url.replace('.txt', '.html')],
    ['no extension', () => file.url.replace('.txt', '')],
    ['a path out of the folder', () => '/uploads/..%2f..%2fevents.db'],
    ['a path with a real folder', () => `/uploads/${file.hash.slice(0, 2)}%2f${file.hash}`],
    ['an encoded NUL', () => `/uploads/${file.hash}%00.txt`],
    ['a hash of nothing', () => `/uploads/${'0'.repeat(64)}.txt`],
    ['the folder', () => '/uploads/'],
  ])('%s: 404 in the envelope', async (_, path) => {
    const answer = await fetch(server.url + path());
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { name: 'NotFoundError' } });
  });

  it('content whose document was deleted', async () => {
    const [gone] = await upload(server, [{ name: 'x.txt', bytes: 'soon gone' }]);
    await fetch(`${server.url}/api/upload/files/${gone!.id}`, { method: 'DELETE' });
    expect((await fetch(server.url + gone!.url)).status).toBe(404);
  });
});

describe('what a browser could run', () => {
  it.each([
    ['SVG', SVG, 'image/svg+xml; charset=utf-8'],
    ['HTML', '<!doctype html><html><script>alert(1)</script>', 'text/html; charset=utf-8'],
    ['XML', '<?xml version="1.0"?><x/>', 'application/xml; charset=utf-8'],
  ])('%s is a download, and sandboxed when opened', async (_, bytes, type) => {
    const [active] = await upload(server, [{ name: 'a', bytes }]);
    const { headers } = await fetch(server.url + active!.url);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*sandbox$/);
  });

  it('a picture opens in place', async () => {
    const [picture] = await upload(server, [{ name: 'a.png', bytes: png(2, 2) }]);
    const { headers } = await fetch(server.url + picture!.url);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      'image/png',
      'inline; filename=a.png',
    ]);
  });
});

it('files, links and content are there after a restart, and after the graph is rebuilt', async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const first = await startServer({ data });
  const { body } = await send(first, 'POST', '/api/restaurants', { key: 'k', name: 'Kept' });
  await upload(first, [{ name: 'kept.png', bytes: png(4, 4) }], {
    ref: 'api::restaurant.restaurant',
    refId: body.data.documentId,
    field: 'logo',
  });
  const path = '/api/restaurants?populate=logo&filters[logo][width]=4';
  const before = await getJson<{ data: { logo: FileAnswer }[] }>(first, path);
  expect(before.data).toHaveLength(1);
  expect((await first.stop()).code).toBe(0);
  for (const file of ['graph.db', 'graph.db-wal', 'graph.db-shm']) rmSync(`${data}/${file}`, { force: true });
  const second = await startServer({ data });
  onTestFinished(() => second.dispose());
  expect(await getJson(second, path)).toEqual(before);
  const content = await fetch(second.url + before.data[0]!.logo.url);
  expect(Buffer.from(await content.arrayBuffer())).toEqual(png(4, 4));
});

it('--assets keeps the content in a folder of its own', takesMinutes('a folder of content'), async () => {
  const assets = createDataDirectory();
  onTestFinished(() => rmSync(assets, { recursive: true, force: true }));
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const one = await startServer({ data, env: { VARVE_ASSETS: assets } });
  const [kept] = await upload(one, [{ name: 'a.txt', bytes: 'elsewhere' }]);
  await one.stop();
  const without = await startServer({ data });
  expect((await fetch(without.url + kept!.url)).status).toBe(404);
  await without.stop();
  const again = await startServer({ data, env: { VARVE_ASSETS: assets } });
  onTestFinished(() => again.dispose());
  expect(await (await fetch(again.url + kept!.url)).text()).toBe('elsewhere');
});
