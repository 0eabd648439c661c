import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createStrapiProxy } from '../../../services/follow/strapi-proxy.ts';

const LIMITS = { timeoutMs: 200, maxBytes: 10 };
const REQUEST = {
  ...{ method: 'POST', path: '/tags', headers: {}, body: undefined },
  ...{ clientAddress: '10.1.2.3', protocol: 'https' },
};

async function proxyTo(answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return createStrapiProxy({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prefix: '/api',
    ...LIMITS,
  });
}

it.each<[string, RequestListener]>([
  ['says nothing', () => {}],
  ['stops in the middle of its answer', (_request, response) => response.write('a')],
  [
    'answers more bytes than are taken',
    (_request, response) => response.end('a'.repeat(LIMITS.maxBytes + 1)),
  ],
])('a Strapi that %s is a 503', async (_what, answer) => {
  const proxy = await proxyTo(answer);
  await expect(proxy(REQUEST)).rejects.toMatchObject({ code: 'strapi-unavailable' });
});

it('an answer of the largest size is passed on', async () => {
  const proxy = await proxyTo((_request, response) => response.end('a'.repeat(LIMITS.maxBytes)));
  expect((await proxy(REQUEST)).body.toString()).toBe('a'.repeat(LIMITS.maxBytes));
});

it("sends the caller's address and protocol as this server knows them", async () => {
  const seen: unknown[] = [];
  const proxy = await proxyTo(({ headers }, response) => {
    seen.push([headers['x-forwarded-for'], headers['x-forwarded-proto'], headers['x-real-ip']]);
    response.end();
  });
  const forged = { 'x-forwarded-for': '1.1.1.1', 'x-forwarded-proto': 'http', 'x-real-ip': '1.1.1.1' };
  await proxy({ ...REQUEST, headers: forged });
  expect(seen).toEqual([['10.1.2.3', 'https', undefined]]);
});

it.each([
  '/auth/..%2f..%2fadmin/login',
  '/auth/..;/..;/admin',
  '/auth/..;a=b/admin',
  '/auth/%2e%2e/admin',
  '/auth/%252e%252e%252fadmin',
  '/auth/.%2e%5cadmin',
  '/auth/..%5cadmin',
  '/auth/./local',
  '/auth/%',
])('does not send a path that could lead out of the API: %s', async (path) => {
  const seen: unknown[] = [];
  const proxy = await proxyTo(({ url }, response) => {
    seen.push(url);
    response.end();
  });
  await expect(proxy({ ...REQUEST, path })).rejects.toMatchObject({ code: 'not-found' });
  expect(seen).toEqual([]);
  await proxy({ ...REQUEST, path: '/auth/a..b/...%20c?x=../..' });
  expect(seen).toEqual(['/api/auth/a..b/...%20c?x=../..']);
});
