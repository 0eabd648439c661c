import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { proxyRequests } from '../../services/http/sockets/proxy-requests.ts';
import { openRaw } from '../support/raw-client.ts';

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server behind a proxy, and the requests that it has received, with their bodies. */
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
  // Connections are kept: a second request would come before this one.
  expect((await fetch(`${url}/last`)).status).toBe(200);
  expect(received).toEqual([`${method} /first ${BODY}`, 'GET /last ']);
});
