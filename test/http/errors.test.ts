import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ env: { VARVE_BODY_LIMIT: '2000' } });
});
afterAll(() => server?.dispose());

const call = (method: string, path: string, init: RequestInit = {}) =>
  fetch(server.url + path, { method, ...init });
const json = (body: string, type = 'application/json'): RequestInit => ({
  body,
  headers: { 'content-type': type },
});

describe('refusals', () => {
  it.each([
    '/api/nope',
    '/api',
    '/api/restaurants.json',
    '/api//restaurants',
    '/api/api::restaurant.restaurant',
  ])('GET %s is a 404 in the envelope', async (path) => {
    const answer = await call('GET', path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({
      data: null,
      error: { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} },
    });
  });

  it.each(['/api/restaurants/', '/uploads/'])(
    'GET %s with a name of 3,000 characters is a 404 too',
    async (folder) => {
      expect((await call('GET', folder + 'x'.repeat(3000))).status).toBe(404);
    },
  );

  it.each([
    ['DELETE', '/api/restaurants', 'GET, POST, HEAD, OPTIONS'],
    ['PATCH', '/api/restaurants', 'GET, POST, HEAD, OPTIONS'],
    ['POST', '/api/restaurants/x', 'GET, PUT, DELETE, HEAD, OPTIONS'],
    ['GET', '/api/restaurants/x/actions/publish', 'POST, OPTIONS'],
    ['PUT', '/api/nope/1', 'GET, HEAD'],
  ])('%s %s is a plain 405', async (method, path, allow) => {
    const answer = await call(method, path, method === 'GET' ? {} : json('{"data":{}}'));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([405, 'no-store']);
    expect(answer.headers.get('allow')).toBe(allow);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await answer.text()).toBe('Method Not Allowed');
  });

  it.each([
    ['malformed JSON', json('{bad'), 400, 'SyntaxError'],
    ['a scalar', json('5'), 400, 'SyntaxError'],
    ['no data', json('{}'), 400, 'ValidationError'],
    ['nothing', json(''), 400, 'ValidationError'],
    ['text', { body: 'hello', headers: { 'content-type': 'text/plain' } }, 400, 'ValidationError'],
    ['a form', { body: new URLSearchParams({ data: '{}' }) }, 400, 'ValidationError'],
    ['linked data', json('{bad', 'application/ld+json'), 400, 'SyntaxError'],
    [
      'a report of a browser',
      json('{"data":{}}', 'application/csp-report'),
      415,
      'UnsupportedMediaTypeError',
    ],
    [
      'XML',
      { body: '<a/>', headers: { 'content-type': 'application/xml' } },
      415,
      'UnsupportedMediaTypeError',
    ],
    [
      'named by a word',
      { body: '{}', headers: { 'content-type': 'json' } },
      415,
      'UnsupportedMediaTypeError',
    ],
    [
      'more than the limit',
      json(JSON.stringify({ data: { name: 'x'.repeat(2000) } })),
      413,
      'PayloadTooLargeError',
    ],
  ])('a body that is %s', async (_what, init, status, name) => {
    const answer = await call('POST', '/api/restaurants', init);
    expect(await answer.json()).toMatchObject({ data: null, error: { status, name } });
    expect(answer.status).toBe(status);
  });

  it('a DELETE without a body may name any type of it, as clients do that name one in every request', async () => {
    const of = (type: string, more: RequestInit = {}) =>
      call('DELETE', '/api/restaurants/none', { headers: { 'content-type': type }, ...more });
    for (const type of ['multipart/form-data', 'text/json', 'a/b']) {
      expect((await of(type)).status, type).toBe(204);
      expect((await of(type, { body: '<a/>' })).status, type).toBe(415);
    }
    const unknown = await call('DELETE', '/api/nope/1', { headers: { 'content-type': 'a/b' }, body: '<a/>' });
    expect(unknown.status).toBe(405);
  });

  it('a request line of more than 16 KiB is a 431 without a body', async () => {
    const path = `/api/restaurants?filters[name]=${'x'.repeat(17_000)}`;
    const text = await rawRequest(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(text.split('\r\n\r\n')[1]).toBe('');
  });

  it('a path that is not percent-encoded text is a 400', async () => {
    const text = await rawRequest(
      'GET /api/restaurants/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"name":"BadRequestError"');
    expect(text).toContain('"code":"malformed-request"');
  });

  it('a body of another type names what is read', async () => {
    const answer = await call('POST', '/api/restaurants', {
      body: '<a/>',
      headers: { 'content-type': 'application/xml' },
    });
    expect(await answer.json()).toMatchObject({
      error: {
        message: 'Unsupported Media Type',
        code: 'media-type-not-allowed',
        details: { header: 'Content-Type', found: 'application/xml', accepted: ['application/json'] },
      },
    });
    const upload = await call('POST', '/api/upload', {
      body: 'x',
      headers: { 'content-type': 'image/jpeg' },
    });
    expect(await upload.json()).toMatchObject({ error: { details: { accepted: ['multipart/form-data'] } } });
  });
});

describe('paths', () => {
  it.each(['/api/Restaurants', '/API/RESTAURANTS', '/api/restaurants/', '/api/restaurants/?status=draft'])(
    '%s is the list of restaurants',
    async (path) => {
      const answer = await call('GET', path);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ data: [], meta: { pagination: { total: 0 } } });
    },
  );

  it('HEAD has the headers of GET and no body', async () => {
    const [get, head] = [await call('GET', '/api/restaurants'), await call('HEAD', '/api/restaurants')];
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(await head.text()).toBe('');
  });

  it('answers have headers against misuse by browsers', async () => {
    const answer = await call('GET', '/api/restaurants');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  });
});

function rawRequest(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}
