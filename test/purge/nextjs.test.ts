import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { createNextSite, longWithNext } from '../support/next-site.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const PATIENT = { timeout: 60_000 };
const SECRET = 'a-secret-of-the-site';

/** Starts a proxy to a server that counts requests by path. */
async function startCounter(server: () => RunningServer) {
  const counts = new Map<string, number>();
  const proxy = createServer(async ({ url = '' }, response) => {
    const query = new URL(url, 'http://any').search;
    counts.set(query, (counts.get(query) ?? 0) + 1);
    const answer = await fetch(server().url + url);
    const groups = answer.headers.get('cache-groups');
    response.setHeader('content-type', 'application/json');
    if (groups !== null) response.setHeader('cache-groups', groups);
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    of: (part: string) =>
      [...counts].reduce((sum, [query, count]) => (query.includes(part) ? sum + count : sum), 0),
  };
}

it('the recipes for Next.js keep answers until a purge, and no old answer after it', {
  ...longWithNext('a real Next.js'),
  timeout: 900_000,
}, async () => {
  const site = await createNextSite();
  const server = await startServer({
    arguments: ['--cache-tags', 'rfc9875', '--purge', `webhook=${site.url}/api/revalidate`],
    env: { VARVE_PURGE_TOKEN: SECRET },
  });
  onTestFinished(() => server.dispose());
  const counter = await startCounter(() => server);
  onTestFinished(site.stop);
  await site.start(counter.url, { purgeToken: SECRET });
  const api = createApiClient(server.url);
  const create = (key: string) =>
    api.data<{ documentId: string }>('POST', '/api/tags', { data: { key, name: key } });
  const [a, b] = [await create('a'), await create('b')];
  /** Resolves when every purge is confirmed. */
  const caughtUp = async () => {
    const waiting = async () =>
      sampleOf(await (await fetch(`${server.url}/metrics`)).text(), 'varve_purge_changes_waiting', {
        receiver: 'webhook',
      });
    await expect.poll(waiting, PATIENT).toBe(0);
  };
  const read = async (path: string) => (await fetch(`${site.url}/${path}`)).text();
  const asked = () => ({ plain: counter.of('sort=key'), exact: counter.of('filters') });
  const readAll = async () => ({ plain: await read('plain'), exact: await read('exact') });
  await caughtUp();
  await readAll();
  const first = asked();
  for (let i = 0; i < 3; i++) await readAll();
  expect(asked()).toEqual(first);

  await api.data('PUT', `/api/tags/${a.documentId}`, { data: { name: 'changed' } });
  await caughtUp();
  const shown = await readAll();
  expect([shown.plain, shown.exact]).toEqual(Array(2).fill(expect.stringContaining('"name":"changed"')));

  // The exact tags of a list do not include entries that it does not show.
  const before = asked();
  await api.data('PUT', `/api/tags/${b.documentId}`, { data: { name: 'other' } });
  await caughtUp();
  expect((await readAll()).plain).toContain('"name":"other"');
  expect(asked()).toEqual({ plain: before.plain + 1, exact: before.exact });
});
