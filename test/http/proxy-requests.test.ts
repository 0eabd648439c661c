import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCallerAddress } from '../../services/http/sockets/caller-address.ts';
import { proxyRequests } from '../../services/http/sockets/proxy-requests.ts';
import { openRaw } from '../support/raw-client.ts';

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server behind a proxy that records the received requests with their bodies. */
async function serveBehindProxy() {
  const received: string[] = [];
  const address = await serve(async (request, response) => {
    received.push(`${request.method} ${request.url} ${await text(request)}`);
    response.end('ok');
  });
  return { url: await serve(proxyRequests(address)), received };
}

const BODY = 'GET /other HTTP/1.1\r\nhost: x\r\n\r\n';
const IN_CHUNKS = `transfer-encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const WITH_LENGTH = `content-length: ${BODY.length}\r\n`;

it.each(
  ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT'].flatMap((method) => [
    [method, 'in chunks', IN_CHUNKS],
    [method, 'with a length', `${WITH_LENGTH}\r\n${BODY}`],
    [
      method,
      'whose length is a header of the connection',
      `${WITH_LENGTH}connection: content-length\r\n\r\n${BODY}`,
    ],
  ]),
)('passes a %s with a body %s on as one request', async (method, _how, rest) => {
  const { url, received } = await serveBehindProxy();
  const client = await openRaw(url);
  client.send(`${method} /first HTTP/1.1\r\nhost: x\r\n${rest}`);
  expect(await client.statuses(1)).toEqual([200]);
  // Connections are kept, so a smuggled second request would arrive before this one.
  expect((await fetch(`${url}/last`)).status).toBe(200);
  expect(received).toEqual([`${method} /first ${BODY}`, 'GET /last ']);
});

describe('the address of a caller', () => {
  /** Sends a GET from an address of this machine, and returns the answer's body. */
  const getFrom = (url: string, localAddress: string, headers: Readonly<Record<string, string>> = {}) =>
    new Promise<string>((resolve, reject) => {
      get(url, { localAddress, headers, agent: false }, (answer) => resolve(text(answer))).once(
        'error',
        reject,
      );
    });

  /** Answers with the address of the request's connection, behind two workers that pass requests on. */
  async function serveBehindWorkers() {
    const callers = createCallerAddress('a secret of the supervisor');
    const last = await serve(
      callers.admit((request, response) => void response.end(request.socket.remoteAddress)),
    );
    const second = await serve(proxyRequests(last, callers));
    return { last, first: await serve(proxyRequests(second, callers)) };
  }

  it('is that of the first connection, over any number of workers and for one connection between them', async () => {
    const { first } = await serveBehindWorkers();
    for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.2'])
      expect(await getFrom(first, address)).toBe(address);
  });

  it('is not what a caller says', async () => {
    const { first, last } = await serveBehindWorkers();
    const stranger = createCallerAddress('another secret').headersOf({
      headers: {},
      socket: { remoteAddress: '10.0.0.1' },
    } as unknown as IncomingMessage);
    for (const headers of [stranger, { 'varve-caller': '10.0.0.1' }, { 'varve-caller': '10.0.0.1 ' }])
      for (const url of [first, last]) expect(await getFrom(url, '127.0.0.2', headers)).toBe('127.0.0.2');
  });
});
