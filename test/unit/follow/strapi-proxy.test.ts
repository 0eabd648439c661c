import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createStrapiProxy } from '../../../services/follow/strapi-proxy.ts';

const LIMITS = { timeoutMs: 200, maxBytes: 10 };
const REQUEST = { method: 'POST', path: '/tags', headers: {}, body: undefined, clientAddress: '127.0.0.1' };

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
