import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../services/http/sockets/listen.ts';
import type { WaitLimits } from '../../services/http/sockets/waiting-requests.ts';

async function listenForTest() {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.drain(0));
  return listener;
}

it('answers 503 with Retry-After until the application is ready', async () => {
  const listener = await listenForTest();
  for (const path of ['/_health', '/api/restaurants']) {
    const answer = await fetch(listener.url + path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({ data: null, error: { name: 'ServiceUnavailableError' } });
  }
  listener.serve((_request, response) => response.writeHead(204).end());
  expect((await fetch(`${listener.url}/_health`)).status).toBe(204);
});

it('says which port is in use', async () => {
  const { port } = new URL((await listenForTest()).url);
  await expect(listen({ host: '127.0.0.1', port: Number(port) })).rejects.toThrow(
    `127.0.0.1:${port} is in use: choose another port with --port`,
  );
});

it('drains: answers requests in flight, then refuses connections', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<() => void>();
  listener.serve((_request, response) => arrived.resolve(() => response.end('late')));
  const answer = fetch(listener.url);
  const finish = await arrived.promise;
  const drained = listener.drain(60_000);
  finish();
  expect(await (await answer).text()).toBe('late');
  await drained;
  await expect(fetch(listener.url)).rejects.toThrow();
});

it('drains: answers a request that arrived while the process was busy, and closes the connection', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.serve((_request, response) => response.end('here'));
  const { hostname, port } = new URL(listener.url);
  const client = connect(Number(port), hostname).setEncoding('utf8');
  const ask = () => client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  ask();
  await once(client, 'data');
  const drained = listener.drain(60_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  // Timers run in the next phase of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  ask();
  // Blocks for longer than the 250 ms after which idle connections are closed.
  for (const end = performance.now() + 300; performance.now() < end; );
  const [answer] = (await once(client, 'data')) as [string];
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i);
  await drained;
});

it('drains for another process: it answers one more request on each connection, and closes idle connections after five seconds', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.serve((_request, response) => response.end('here'));
  const { hostname, port } = new URL(listener.url);
  const open = async () => {
    const client = connect(Number(port), hostname).setEncoding('utf8');
    client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(client, 'data');
    return client;
  };
  const [asking, idle] = [await open(), await open()];
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const drained = listener.drain(60_000, (_request, response) => response.end('there'));
  await listener.left;
  await vi.advanceTimersByTimeAsync(4_900);
  asking.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const signal = AbortSignal.timeout(10_000);
  const [answer] = (await once(asking, 'data', { signal })) as [string];
  expect(answer).toMatch(/\r\nconnection: close\r\n[\s\S]*there$/i);
  expect(idle.closed).toBe(false);
  const ended = once(idle, 'close');
  await vi.advanceTimersByTimeAsync(200);
  await ended;
  await drained;
});

/** Drains with an interval that the test advances. Resolves when no more connections are accepted. */
async function drainByHand(listener: Awaited<ReturnType<typeof listen>>) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const drained = listener.drain(60_000);
  await listener.left;
  return {
    drained,
    /** Looks for idle connections once, as every 250 ms. */
    async look() {
      await vi.advanceTimersByTimeAsync(250);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('drains: an answer in flight says that the connection closes', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<() => void>();
  listener.serve((_request, response) => arrived.resolve(() => response.end('late')));
  const answer = fetch(listener.url);
  const finish = await arrived.promise;
  const { drained } = await drainByHand(listener);
  finish();
  expect((await answer).headers.get('connection')).toBe('close');
  expect(await (await answer).text()).toBe('late');
  await drained;
});

it('drains: an answer whose client reads late is sent whole', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const bytes = 64 * 1024 * 1024;
  const ended = Promise.withResolvers<void>();
  listener.serve((_request, response) => {
    response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes));
    ended.resolve();
  });
  const client = request(listener.url);
  client.end();
  const answered = once(client, 'response');
  await ended.promise;
  const { drained, look } = await drainByHand(listener);
  for (let looks = 0; looks < 4; looks++) await look();
  const [answer] = (await answered) as [IncomingMessage];
  let read = 0;
  for await (const chunk of answer) read += (chunk as Buffer).length;
  expect(read).toBe(bytes);
  // The client keeps the connection, since the headers were sent before.
  for (let looks = 0; looks < 2; looks++) await look();
  await drained;
});

it('drains: a connection whose answer has just ended stays open until the next look', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<() => void>();
  listener.serve((_request, response) => {
    response.write('begun ');
    arrived.resolve(() => response.end('ended'));
  });
  const { hostname, port } = new URL(listener.url);
  const client = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  const received = async (pattern: RegExp) => {
    while (!pattern.test(text)) await once(client, 'data', { signal: AbortSignal.timeout(60_000) });
  };
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const finish = await arrived.promise;
  const { drained, look } = await drainByHand(listener);
  finish();
  await received(/ended\r\n0\r\n\r\n$/);
  await look();
  listener.serve((_request, response) => response.end('one more'));
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await received(/\r\nconnection: close\r\n[\s\S]*one more$/i);
  await drained;
});

it('cuts off requests that take longer than the grace period', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  const arrived = Promise.withResolvers<void>();
  listener.serve(() => arrived.resolve());
  const answer = fetch(listener.url);
  const cut = expect(answer).rejects.toThrow();
  await arrived.promise;
  await listener.drain(10);
  await cut;
});

describe('in place of a server that crashed', () => {
  async function holdForTest(holds: WaitLimits) {
    const listener = await listen({ host: '127.0.0.1', port: 0, waits: holds });
    onTestFinished(() => listener.drain(0));
    return listener;
  }

  it('lets requests wait until the application is ready, and answers health at once', async () => {
    const listener = await holdForTest({ requests: 10, ms: 60_000 });
    const waiting = [fetch(listener.url), fetch(listener.url)];
    expect((await fetch(`${listener.url}/_health`)).status).toBe(503);
    listener.serve((_request, response) => response.writeHead(204).end());
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([204, 204]);
  });

  it('answers 503 after some time', async () => {
    const listener = await holdForTest({ requests: 10, ms: 10 });
    const answer = await fetch(listener.url);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('answers 503 at once if too many wait, and forgets requests of broken connections', async () => {
    const listener = await holdForTest({ requests: 1, ms: 60_000 });
    const { hostname, port } = new URL(listener.url);
    const leaving = connect(Number(port), hostname);
    await once(leaving, 'connect');
    leaving.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const statusWithin = async (ms: number) =>
      (await fetch(listener.url, { signal: AbortSignal.timeout(ms) }).catch(() => undefined))?.status;
    // The first of two requests waits, and the second is refused.
    await expect.poll(() => statusWithin(1_000)).toBe(503);
    leaving.resetAndDestroy();
    await expect.poll(() => statusWithin(500)).toBeUndefined();
  });
});
