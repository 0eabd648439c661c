import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { SourceRefused, SourceUnavailable } from '../../../services/follow/source.ts';
import {
  createStrapiHttp,
  type StrapiHttpOptions,
  waitBeforeRetry,
} from '../../../services/follow/strapi-http.ts';

async function serving(answer: RequestListener, options: Partial<StrapiHttpOptions> = {}) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backoff = { firstMs: 1, longestMs: 2 };
  return createStrapiHttp({ url, prefix: '/api', token: 'the token', backoff, ...options });
}

it('sends its token, and returns undefined for a missing resource', async () => {
  const seen: unknown[] = [];
  const http = await serving((request, response) => {
    seen.push([request.url, request.headers.authorization]);
    response.writeHead(request.url === '/api/none' ? 404 : 200).end('{"data":1}');
  });
  expect(await http.json('/tags?sort=id')).toEqual({ data: 1 });
  expect(await http.json('/none')).toBeUndefined();
  expect(seen).toEqual([
    ['/api/tags?sort=id', 'Bearer the token'],
    ['/api/none', 'Bearer the token'],
  ]);
});

it('follows no redirect', async () => {
  const asked: unknown[] = [];
  const http = await serving((request, response) => {
    asked.push(request.url);
    response.writeHead(302, { location: '/api/elsewhere' }).end();
  });
  await expect(http.json('/tags')).rejects.toThrow(/redirects \/api\/tags|redirects \/tags/);
  await expect(http.json('/tags')).rejects.toThrow(SourceRefused);
  expect(asked).toEqual(['/api/tags', '/api/tags']);
});

it.each([503, 429, 500])(
  'repeats a request after status %i, and reports the last attempt',
  async (status) => {
    let failures = 2;
    const http = await serving((_request, response) => {
      if (failures-- > 0) response.writeHead(status, status === 429 ? { 'retry-after': '0' } : {}).end('{}');
      else response.end('{"data":[]}');
    });
    expect(await http.json('/tags')).toEqual({ data: [] });
    expect(http.requests()).toBe(3);
    failures = 1_000;
    await expect(http.json('/tags')).rejects.toThrow(SourceUnavailable);
  },
);

it.each([
  ['0', 0],
  ['2', 2_000],
  ['60', 60_000],
  ['3600', 60_000],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 09:28:00 GMT', 60_000],
  ['soon', undefined],
  [undefined, undefined],
])('waits for Retry-After %s, but no longer than a minute', (text, wanted) => {
  expect(waitBeforeRetry(text, Date.parse('2026-10-21T07:28:00Z'))).toBe(wanted);
});

it("does not repeat a refused request, and passes Strapi's message on", async () => {
  const http = await serving((_request, response) => {
    response.writeHead(403).end('{"error":{"message":"Forbidden"}}');
  });
  await expect(http.json('/tags')).rejects.toThrow('/tags: 403 Forbidden');
  expect(http.requests()).toBe(1);
});

it('cancels a request that takes too long', async () => {
  const http = await serving(() => {}, { timeoutMs: 50, attempts: 2 });
  await expect(http.json('/tags')).rejects.toThrow(SourceUnavailable);
  expect(http.requests()).toBe(2);
});

it('refuses an answer that is too long, or not JSON', async () => {
  const http = await serving(
    (request, response) => void response.end(request.url === '/api/long' ? '"'.padEnd(5_000, 'x') : '<html>'),
    {
      maxBytes: 4_096,
    },
  );
  await expect(http.json('/long')).rejects.toThrow("Strapi's answer is longer than 4096 bytes");
  await expect(http.json('/html')).rejects.toThrow('is not JSON');
});

it('cancels a file that stalls or is too long', async () => {
  const http = await serving(
    (request, response) => {
      response.write('0123456789');
      if (request.url === '/uploads/long') response.end('0123456789');
    },
    { idleMs: 100, maxFileBytes: 15 },
  );
  const read = async (path: string) => {
    let size = 0;
    for await (const part of http.bytes(path)) size += part.length;
    return size;
  };
  await expect(read('/uploads/long')).rejects.toThrow('is longer than 15 bytes');
  await expect(read('/uploads/stops')).rejects.toThrow(SourceUnavailable);
});

it('reports a server that does not answer', async () => {
  const http = createStrapiHttp({
    ...{ url: 'http://127.0.0.1:1', prefix: '/api', token: undefined, attempts: 1 },
  });
  await expect(http.json('/tags')).rejects.toThrow(/^Strapi does not answer: /);
});
