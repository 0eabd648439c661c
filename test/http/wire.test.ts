import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRaw } from '../support/raw-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Requests that no client library sends. Each is answered. Invalid ones get 4xx with the usual error body. */
let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

async function exchange(sent: string | Uint8Array, halfClose = false): Promise<string> {
  const client = await openRaw(server.url);
  client.send(sent);
  if (halfClose) client.socket.end();
  return client.readAll();
}

const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const END = 'Host: localhost\r\nConnection: close\r\n\r\n';
const POST = 'POST /api/tags HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const TAG = (key: string) => JSON.stringify({ data: { key, name: 'a' } });

describe('bytes that are not a request', () => {
  const rows: readonly (readonly [string, number, string])[] = [
    ['noise', 400, '\u0000\u0001\u0002\r\n\r\n'],
    ['a request line without a version', 400, `GET /api/tags\r\n${END}`],
    ['HTTP/2 on a plain connection', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS greeting', 400, '\u0016\u0003\u0001\u0000\u00a5\u0001\u0000\u0000\u00a1\u0003\u0003'],
    ['CONNECT', 405, `CONNECT example.org:443 HTTP/1.1\r\n${END}`],
    ['an unknown method', 400, `BREW /api/tags HTTP/1.1\r\n${END}`],
    ['two Hosts', 400, `GET /api/tags HTTP/1.1\r\nHost: localhost\r\n${END}`],
    ['no Host', 400, 'GET /api/tags HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a header without a colon', 400, `GET /api/tags HTTP/1.1\r\nbroken\r\n${END}`],
    ['a header name with a space', 400, `GET /api/tags HTTP/1.1\r\nX y: 1\r\n${END}`],
    ['a header value with NUL', 400, `GET /api/tags HTTP/1.1\r\nX: a\u0000b\r\n${END}`],
    ['a folded header', 400, `GET /api/tags HTTP/1.1\r\nX: a\r\n b\r\n${END}`],
    ['a bare line feed', 400, `GET /api/tags HTTP/1.1\nX: a\n${END}`],
    ['a path with NUL', 400, `GET /api/\u0000tags HTTP/1.1\r\n${END}`],
    ['a path with a space', 400, `GET /api/ tags HTTP/1.1\r\n${END}`],
    ['headers of 17 KiB', 431, `GET /api/tags HTTP/1.1\r\nX: ${'a'.repeat(17_000)}\r\n${END}`],
    ['a path of 17 KiB', 431, `GET /api/${'a'.repeat(17_000)} HTTP/1.1\r\n${END}`],
    ['3,000 headers', 431, `GET /api/tags HTTP/1.1\r\n${'X: a\r\n'.repeat(3_000)}${END}`],
    ['Expect for something else', 417, `${POST}Expect: a-miracle\r\n${END}`],
    ['two lengths', 400, `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a length and chunks', 400, `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks, but not last', 400, `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['a length that is not a number', 400, `${POST}Content-Length: two\r\n\r\n{}`],
    ['a negative length', 400, `${POST}Content-Length: -2\r\n\r\n{}`],
    ['a bad chunk size', 400, `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than its size', 400, `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    [
      'chunk extensions of 20 KB',
      413,
      `${POST}Transfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(20_000)}\r\n{}`,
    ],
  ];
  it.each(rows)('%s is a %i', async (_name, status, sent) => {
    const text = await exchange(Buffer.from(sent, 'latin1'));
    expect(statusesOf(text), text.slice(0, 300)).toEqual([status]);
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    if (status === 431) expect(body).toBe('');
    else
      expect(JSON.parse(body)).toMatchObject({ data: null, error: { status, message: expect.any(String) } });
  });

  it('a body that ends too early is a 400', async () => {
    const text = await exchange(`${POST}Content-Length: 100\r\n\r\n{"data":`, true);
    expect(statusesOf(text)).toEqual([400]);
  });

  it('is answered after the requests before it', async () => {
    const good = 'GET /api/tags HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const text = await exchange(`${good}${good}\u0001\r\n\r\n`);
    expect(statusesOf(text)).toEqual([200, 200, 400]);
  });

  it('are not an error of the server if a client closes before its body has arrived', async () => {
    for (const type of ['application/json', 'multipart/form-data; boundary=x']) {
      const client = await openRaw(server.url);
      const path = type === 'application/json' ? '/api/tags' : '/api/upload';
      const part = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\na';
      client.send(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 999\r\n\r\n${part}`,
      );
      await setTimeout(100);
      client.socket.destroy();
    }
    await setTimeout(100);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).not.toMatch(/status="5/);
    expect(server.output()).not.toMatch(/"level":[56]0/);
  });
});

describe('a request that is unusual', () => {
  const rows: readonly (readonly [string, number, string])[] = [
    ['HTTP/1.0', 200, 'GET /api/tags HTTP/1.0\r\n\r\n'],
    [
      'an upgrade',
      200,
      `GET /api/tags HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\nHost: localhost\r\n\r\n`,
    ],
    ['HEAD', 200, `HEAD /api/tags HTTP/1.1\r\n${END}`],
    ['OPTIONS', 200, `OPTIONS /api/tags HTTP/1.1\r\n${END}`],
    ['a body of a GET', 200, `GET /api/tags HTTP/1.1\r\nContent-Length: 2\r\n${END}{}`],
    ['a compressed body', 400, `${POST}Content-Encoding: gzip\r\nContent-Length: 2\r\n${END.slice(17)}{}`],
    ['an empty line before', 200, `\r\nGET /api/tags HTTP/1.1\r\n${END}`],
  ];
  it.each(rows)('%s is a %i', async (_name, status, sent) => {
    expect(statusesOf(await exchange(sent))).toEqual([status]);
  });

  it('waits for 100 Continue, and has trailers', async () => {
    const body = TAG('expected');
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Trailer: a\r\n\r\n`;
    const head = `${POST}Transfer-Encoding: chunked\r\nTrailer: X-Trailer\r\nExpect: 100-continue\r\n`;
    expect(statusesOf(await exchange(`${head}Connection: close\r\n\r\n${chunk}`))).toEqual([100, 201]);
  });

  it('is answered if the client has closed its half of the connection', async () => {
    const good = 'GET /api/tags HTTP/1.1\r\nHost: localhost\r\n\r\n';
    expect(statusesOf(await exchange(good.repeat(3), true))).toEqual([200, 200, 200]);
  });
});
