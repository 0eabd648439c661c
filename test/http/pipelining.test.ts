import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { OutputLimits } from '../../services/http/sockets/bound-output.ts';
import { type Listener, listen } from '../../services/http/sockets/listen.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const MB = 1024 * 1024;
/** More than the kernel buffers for a client that does not read. */
const LARGE = Buffer.alloc(24 * MB, 'x');

async function listenFor(limits: Partial<OutputLimits>, handle: RequestListener): Promise<Listener> {
  const listener = await listen({ host: '127.0.0.1', port: 0, limits });
  onTestFinished(() => listener.drain(0));
  listener.serve(handle);
  return listener;
}

async function open({ url }: { readonly url: string }): Promise<RawClient> {
  const client = await openRaw(url);
  onTestFinished(() => void client.socket.destroy());
  return client;
}

const answerLarge: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-length': LARGE.length }).end(LARGE);
};

const get = (path = '/api/x') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Resolves when `holds` returns true. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(5);
}

it('starts the next request of a connection when the previous answer has been read', async () => {
  let begun = 0;
  const listener = await listenFor({}, (request, response) => {
    begun += 1;
    answerLarge(request, response);
  });
  const client = await open(listener);
  client.send(get().repeat(600));
  await until(() => listener.output.unsentBytes() > 0);
  await delay(100);
  expect(begun).toBe(1);
  expect(listener.output.unsentBytes()).toBeLessThanOrEqual(LARGE.length + 1_000);
  expect(listener.output.waitingRequests()).toBe(599);
  expect(await client.statuses(3)).toEqual([200, 200, 200]);
});

it('stops reading pipelined requests, and answers all of them to a client that reads slowly', async () => {
  const body = Buffer.alloc(20_000, 'x');
  const listener = await listenFor({}, (_request, response) => {
    setImmediate(() => response.writeHead(200, { 'content-length': body.length }).end(body));
  });
  const client = await open(listener);
  const count = 4_000;
  client.send(get(`/api/${'y'.repeat(200)}`).repeat(count));
  await until(() => listener.output.waitingRequests() > 0);
  await delay(200);
  // One read of the socket has at most 64 KiB.
  expect(listener.output.waitingRequests()).toBeLessThan(600);
  expect(await client.statuses(count, 1)).toHaveLength(count);
  expect(listener.output.waitingRequests()).toBe(0);
});

it('starts no request above the limit of all connections until answers are read, except health', async () => {
  const limits = { unsentBytes: 30 * MB, patienceMs: 60_000 };
  const paths: string[] = [];
  const listener = await listenFor(limits, (request, response) => {
    paths.push(request.url ?? '');
    if (request.url === '/_health') response.writeHead(204).end();
    else answerLarge(request, response);
  });
  const clients = await Promise.all([1, 2, 3, 4, 5, 6].map(() => open(listener)));
  for (const [i, client] of clients.entries()) {
    client.send(get(`/api/${i}`));
    await delay(30);
  }
  const begun = paths.length;
  expect(begun).toBeLessThan(clients.length);
  expect(listener.output.unsentBytes()).toBeLessThan(limits.unsentBytes + LARGE.length);
  expect((await fetch(`${listener.url}/_health`)).status).toBe(204);
  for (const client of clients) expect(await client.statuses(1)).toEqual([200]);
  expect(listener.output.unsentBytes()).toBe(0);
});

it('closes connections that leave answers unread for too long while others wait, the oldest first', async () => {
  const listener = await listenFor({ unsentBytes: 30 * MB, patienceMs: 300 }, answerLarge);
  const idle = await Promise.all([1, 2, 3].map(() => open(listener)));
  for (const client of idle) client.send(get());
  await until(() => listener.output.unsentBytes() > 30 * MB);
  const reader = await open(listener);
  reader.send(get());
  expect(await reader.statuses(1)).toEqual([200]);
  await idle[0]?.readAll();
  const next = await open(listener);
  next.send(get());
  expect(await next.statuses(1)).toEqual([200]);
});

it('closes a connection whose client reads nothing, not one whose answer takes long', async () => {
  const stallMs = 300;
  const listener = await listenFor({ stallMs }, (request, response) => {
    if (request.url === '/api/late') setTimeout(() => response.end('late'), 3 * stallMs);
    else answerLarge(request, response);
  });
  const late = await open(listener);
  late.send(get('/api/late'));
  const stalled = await open(listener);
  stalled.send(get());
  await until(() => listener.output.unsentBytes() > 0);
  await until(() => listener.output.unsentBytes() === 0);
  await expect(stalled.statuses(1)).rejects.toThrow('then the end');
  expect(await late.statuses(1)).toEqual([200]);
});

it('closes a connection that sends more waiting requests than the limit', async () => {
  const listener = await listenFor({ waiting: 10 }, answerLarge);
  const client = await open(listener);
  client.send(get().repeat(12));
  await expect(client.statuses(12)).rejects.toThrow('then the end');
  expect(listener.output.waitingRequests()).toBe(0);
  const other = await open(listener);
  other.send(get().repeat(11));
  expect(await other.statuses(11)).toHaveLength(11);
});

it(
  'bounds the output of a server whose clients send 600 requests each and read nothing',
  takesMinutes('clients that read nothing'),
  async () => {
    const server = await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });
    onTestFinished(() => server.dispose());
    const path = '/api/restaurants?populate=*&pagination[pageSize]=100';
    const { length } = await (await fetch(server.url + path))
      .arrayBuffer()
      .then((bytes) => new Uint8Array(bytes));
    const clients = await Promise.all([1, 2, 3, 4].map(() => open(server)));
    for (const client of clients) client.send(get(path).repeat(600));
    let most = 0;
    for (let looks = 0; looks < 20; looks++) {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      most = Math.max(most, sampleOf(metrics, 'varve_http_unsent_bytes') ?? Number.NaN);
      await delay(25);
    }
    expect(most).toBeLessThanOrEqual(4 * (length + 1_000));
    // All of them at once: a client that reads nothing for long while others wait is closed.
    const statuses = await Promise.all(clients.map((client) => client.statuses(600)));
    for (const each of statuses) expect(each).toHaveLength(600);
  },
);
