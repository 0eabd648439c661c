import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OUTPUT_LIMITS } from '../../services/http/sockets/bound-output.ts';
import {
  ARRIVAL_LIMITS,
  type ArrivalLimits,
  type ListenOptions,
  listen,
} from '../../services/http/sockets/listen.ts';
import { startListening } from '../../services/http/sockets/listening-socket.ts';
import { acceptConnections, addressOf } from '../../services/http/sockets/private-node.ts';
import { holdSocket } from '../../services/supervisor/held-socket.ts';
import { createRotation } from '../../services/supervisor/rotation.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Limits that no test reaches. Each test lowers one of them. */
const LATE = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000, lookMs: 20 };
const HEADERS: ArrivalLimits = { ...LATE, headersMs: 300 };
const BODY: ArrivalLimits = { ...LATE, requestMs: 600, headersMs: 500 };
const IDLE: ArrivalLimits = { ...LATE, idleMs: 200 };
/** Timeout below Node's own limits. */
const SOON_MS = 4_000;
const HEAD = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n';
const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
const HOST = '127.0.0.1';
const BACKLOG = 16;

type OpenSocket = Pick<ListenOptions, 'socket'>;

/** Opens a socket that a supervisor holds for one worker. */
async function heldSocket(): Promise<OpenSocket> {
  const { handle, close } = await holdSocket({ host: HOST, port: 0 });
  return {
    socket: (server) => ({
      open: () => startListening(server, handle),
      async close() {
        close();
        return { ended: new Promise((resolve) => server.close(() => resolve())) };
      },
    }),
  };
}

/** Opens a socket whose connections a supervisor accepts and passes to workers. */
async function sharedSocket(): Promise<OpenSocket> {
  const { handle, close } = await holdSocket({ host: HOST, port: 0 });
  const { port = 0 } = addressOf(handle);
  const rotation = createRotation({
    ask: async ({ kind }) => ({
      answer: kind === 'share' ? { kind: 'sharing', host: HOST, port } : { kind: 'done' },
    }),
    send: () => {},
  });
  expect(acceptConnections(handle, BACKLOG, rotation.connection)).toBe(0);
  onTestFinished(close);
  return { socket: rotation.sharedSocket };
}

/** Starts a listener that answers requests when their body has arrived. */
async function serve(where: OpenSocket, arrival: ArrivalLimits): Promise<string> {
  const listener = await listen({ host: HOST, port: 0, arrival, ...where });
  onTestFinished(() => listener.drain(0));
  listener.serve((request, response) => {
    request.resume().on('end', () => response.end('whole'));
    request.on('error', () => {});
  });
  return listener.url;
}

/** Sends one character after the other, without pauses that a limit for silent connections could notice. */
function drip({ socket }: RawClient, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] as string), 20);
  socket.once('close', () => clearInterval(timer));
}

const SLOW: readonly (readonly [string, ArrivalLimits, (client: RawClient) => void])[] = [
  ['nothing', HEADERS, () => {}],
  ['half a head', HEADERS, (client) => client.send(GET.slice(0, 20))],
  [
    'a head, a character at a time',
    HEADERS,
    (client) => drip(client, `GET / HTTP/1.1\r\n${'x: a\r\n'.repeat(100)}`),
  ],
  ['half a body', BODY, (client) => client.send(`${HEAD}12345`)],
  [
    'a body, a character at a time',
    BODY,
    (client) => {
      client.send(HEAD);
      drip(client, 'abc');
    },
  ],
  ['half of a second request', HEADERS, (client) => client.send(`${GET}${GET.slice(0, 20)}`)],
];

const SOCKETS: readonly (readonly [string, () => Promise<OpenSocket>, object])[] = [
  ['its own socket', async () => ({}), {}],
  ["a supervisor's socket", heldSocket, takesMinutes('slow requests on sockets of a supervisor')],
  ['a socket that workers share', sharedSocket, takesMinutes('slow requests on a shared socket')],
];

for (const [where, open, options] of SOCKETS)
  describe(`with ${where}, a connection`, options, () => {
    it.each(SLOW)('is refused with 408 and closed if it sends %s', async (_what, arrival, send) => {
      const client = await openRaw(await serve(await open(), arrival));
      send(client);
      const text = await client.readAll(20_000);
      const answers = text.split(/(?=HTTP\/1\.1 )/);
      const last = answers.at(-1) ?? '';
      expect(last).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(JSON.parse(last.slice(last.indexOf('\r\n\r\n')))).toMatchObject({
        data: null,
        error: { status: 408, details: expect.anything() },
      });
    });

    it('is closed without an answer if it sends no further request', async () => {
      const client = await openRaw(await serve(await open(), IDLE));
      client.send(GET);
      const ended = once(client.socket, 'end').then(() => 'ended');
      const text = client.readAll(SOON_MS);
      expect(await Promise.race([ended, delay(SOON_MS)])).toBe('ended');
      expect((await text).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    });
  });

it('an answer may take longer than a request', async () => {
  const listener = await listen({ host: HOST, port: 0, arrival: { ...BODY, idleMs: IDLE.idleMs } });
  onTestFinished(() => listener.drain(0));
  listener.serve((_request, response) => void setTimeout(() => response.end('late'), 2 * BODY.requestMs));
  expect(await (await fetch(listener.url)).text()).toBe('late');
});

it('detects unread answers within a second, long before the time limit', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const listener = await listen({ host: HOST, port: 0 });
  onTestFinished(() => listener.drain(0));
  const answering = Promise.withResolvers<Socket>();
  listener.serve((request, response) => {
    response.end(Buffer.alloc(32 * 1024 * 1024));
    answering.resolve(request.socket);
  });
  const client = await openRaw(listener.url);
  onTestFinished(() => void client.socket.destroy());
  client.send(GET);
  const socket = await answering.promise;
  expect(socket.timeout).not.toBe(OUTPUT_LIMITS.stallMs);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(socket.timeout).toBe(OUTPUT_LIMITS.stallMs);
});

it('the limits leave time for a slow line, and proxies close idle connections first', () => {
  const { headersMs, requestMs, idleMs, lookMs } = ARRIVAL_LIMITS;
  const largestUpload = 200 * 1024 * 1024 * 8;
  expect(largestUpload / (requestMs / 1_000)).toBeLessThan(5.3e6);
  expect(idleMs).toBeGreaterThan(60_000);
  expect(headersMs + lookMs).toBeLessThan(30_000);
});
