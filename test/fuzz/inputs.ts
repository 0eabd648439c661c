import type { Random } from '../support/naive-random.ts';
import { makeDeliveryProbe, makeDeliveryRequest } from './delivery-inputs.ts';
import { makeInstantProbe, makeInstantRequest } from './instant-inputs.ts';
import { LEAK_PARAMETERS, leakPair } from './leaks.ts';
import { makeLoginRequest } from './login-inputs.ts';
import { mutateBytes, mutateJson, mutateText } from './mutate.ts';
import {
  type Caller,
  encode,
  type FuzzInput,
  type FuzzMaterial,
  type Request,
  requestOf,
} from './requests.ts';

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['Accept', ['*/*', 'text/html', 'application/xml;q=0.1', '']],
  ['Accept-Encoding', ['gzip', 'br;q=1.0, *;q=0', 'identity;q=0']],
  [
    'Content-Type',
    [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json; charset=utf-16',
      'a/b',
    ],
  ],
  ['Content-Encoding', ['gzip', 'br', 'identity']],
  [
    'Authorization',
    ['', 'Bearer', 'Bearer ', 'Bearer x', 'Basic YTpi', 'bearer null', `Bearer ${'x'.repeat(500)}`],
  ],
  ['Cookie', ['a=b', 'jwt=x']],
  ['Range', ['bytes=0-1', 'bytes=-1', 'bytes=9-1', 'bytes=0-0,2-2', 'lines=1']],
  ['If-None-Match', ['*', '"x"', 'W/"x"']],
  ['If-Modified-Since', ['Thu, 01 Jan 1970 00:00:00 GMT', 'never']],
  ['Origin', ['null', 'http://localhost', 'http://evil.example']],
  ['X-Forwarded-For', ['127.0.0.1', 'x', '::1, 10.0.0.1']],
  ['X-Forwarded-Host', ['evil.example']],
  ['X-HTTP-Method-Override', ['DELETE']],
  ['X-Request-Id', ['abc', 'a b', 'x'.repeat(200)]],
  ['Traceparent', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-0', 'x']],
  ['Varve-Min-Position', ['0', '1', '-1', 'x', '99999999999999999999', '1, 2']],
  ['Idempotency-Key', ['a', 'x'.repeat(300), '"quoted"', ' ']],
  ['Varve-Command', ['x', 'a.b.c', '{}']],
  ['Strapi-Response-Format', ['v4', 'v5', 'x']],
  ['Expect', ['100-continue', 'x']],
  ['Upgrade', ['h2c', 'websocket']],
  ['TE', ['trailers', 'gzip']],
  ['Via', ['1.1 x']],
];
const OTHER_PATHS = [
  ...[
    '/',
    '/api',
    '/api/',
    '/api/nope',
    '/api/users',
    '/api/users/1',
    '/api/users/me',
    '/api/users/count',
    '/api/upload',
    '/api/upload/files',
  ],
  ...[
    '/uploads/',
    '/uploads/none.txt',
    '/uploads/..%2f..%2fevents.db',
    '/_health',
    '/health/ready',
    '/health/live',
    '/metrics',
    '/docs',
  ],
  ...[
    '/openapi.json',
    '/_varve/tokens',
    '/_varve/public',
    '/_varve/projections',
    '/_varve/leader',
    '/_varve/types',
    '/admin',
    '/api/content-type-builder',
  ],
  ...[
    'http://evil.example/api/tags',
    '//evil.example/api/tags',
    '/api\\tags',
    '\\api\\tags',
    '*',
    'evil.example:80',
    '/api/tags/%2e%2e/tags',
    '/%61pi/tags',
  ],
];
const METHODS = [
  ...Array<string>(14).fill('GET'),
  'GET',
  'GET',
  'GET',
  'GET',
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'CONNECT',
];
const BODIES: readonly unknown[] = [
  {
    data: {
      key: 'fuzz',
      name: 'a',
      stars: 3,
      tags: ['x'],
      address: { city: 'a' },
      sections: [{ __component: 'blocks.hero', title: 'a' }],
    },
  },
  { data: { name: 'b', tags: { connect: [{ documentId: 'x' }] } } },
  { data: { title: 'c', seo: { title: 'd' }, locale: 'de' } },
  { username: 'u', email: 'u@example.org', password: 'a long secret', role: 1 },
];

export function makeInput(random: Random, material: FuzzMaterial): FuzzInput {
  const kind = random.next();
  if (kind < 0.1) return makeProbe(random, material);
  if (kind < 0.17) return makeInstantProbe(random, material);
  if (kind < 0.2) return makeDeliveryProbe(random, material);
  if (kind < 0.32) return makeInstantRequest(random, material);
  if (kind < 0.44) return makeDeliveryRequest(random, material);
  if (kind < 0.5) return makeLoginRequest(random, material);
  if (kind < 0.85) return makeRequest(random, material);
  if (kind < 0.9) return makeUpload(random, material);
  const whole = makeRequest(random, material);
  return { kind: 'bytes', caller: whole.caller, bytes: mutateBytes(whole.bytes, random) };
}

function makeRequest(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'anonymous', 'site', 'full']);
  const method = random.pick(METHODS);
  const isOpen = caller !== 'full' && random.chance(0.8);
  const url = random.chance(0.08)
    ? random.pick(OTHER_PATHS)
    : pickUrl(random, isOpen ? { ...material, urls: material.openUrls } : material, method);
  const target = random.chance(0.6) ? mutateText(url, random) : url;
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(method) || random.chance(0.02);
  const body = hasBody ? makeBody(random) : '';
  return requestOf(material, { caller, method, target, body, headers: someHeaders(random) });
}

function pickUrl(random: Random, material: FuzzMaterial, method: string): string {
  const { urls, files } = material;
  const isRead = method === 'GET' || method === 'HEAD';
  const url = random.pick(urls);
  if (random.chance(0.75)) return url;
  const [path = '', query = ''] = url.split('?');
  const id = random.pick(isRead ? material.documentIds : material.writableIds);
  return random.pick([
    `${path}/${id}?${query}`,
    `${path}/${id}/actions/publish`,
    `/uploads/${random.pick(files)}`,
    `${path}?status=draft&${query}`,
  ]);
}

function makeBody(random: Random): string {
  const json = JSON.stringify(mutateJson(random.pick(BODIES), random));
  return random.chance(0.2) ? mutateText(json, random) : json;
}

function someHeaders(random: Random): readonly string[] {
  const count = random.chance(0.8) ? 0 : random.between(1, 4);
  return random.sample(HEADERS, count).map(([name, values]) => {
    const value = random.pick(values);
    return `${name}: ${random.chance(0.2) ? mutateText(value, random).replace(/[^\x20-\x7e\x80-\xff]/g, '') : value}`;
  });
}

/** Returns a pair of requests: one names something that exists, the other something that does not. */
function makeProbe(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'site']);
  const { name, other, first, second, isRepeated } = leakPair(random, LEAK_PARAMETERS);
  const bytesOf = (target: string) =>
    encode(material, { caller, method: 'GET', target, body: '', headers: [] });
  return {
    kind: 'probe',
    caller,
    method: 'GET',
    bytes: bytesOf(first),
    pair: { bytes: bytesOf(second), name, other, ...(isRepeated ? { isRepeated } : {}) },
  };
}

const BOUNDARY = 'fuzzboundary';

function makeUpload(random: Random, material: FuzzMaterial): FuzzInput {
  const parts = Array.from({ length: random.between(1, 3) }, () => {
    const name = random.pick(['files', 'files', 'fileInfo', 'ref', 'refId', 'field', '']);
    const file = random.pick([
      '; filename="a.txt"',
      '; filename="../../a.svg"',
      "; filename*=UTF-8''%e2%82%ac",
      '',
      '; filename=""',
    ]);
    const content = random.pick([
      'a',
      '',
      '<svg onload="x">',
      '{"name":"n"}',
      '\u0089PNG\r\n',
      'x'.repeat(20_000),
    ]);
    const type = random.pick([
      ...[
        'text/plain',
        'image/svg+xml',
        'application/octet-stream',
        'application/octet-stream',
        'x',
        undefined,
      ],
    ]);
    const disposition = random.pick([
      `form-data; name="${name}"${file}`,
      `form-data; name="${name}"${file}`,
      `form-data${file}`,
    ]);
    const head = [
      `Content-Disposition: ${disposition}`,
      ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ];
    return `--${BOUNDARY}\r\n${head.join('\r\n')}\r\n\r\n${content}\r\n`;
  });
  const form = `${parts.join('')}--${BOUNDARY}--\r\n`;
  const body = random.chance(0.5)
    ? mutateText(form, random, [`--${BOUNDARY}`, '\r\n', '"', ';', '\u0000', 'name=', '--'])
    : form;
  const headers = [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`];
  const caller = random.pick<Caller>(['anonymous', 'full', 'full']);
  const target = random.pick(['/api/upload', '/api/upload?id=1', '/api/upload?id=x']);
  return requestOf(material, { caller, method: 'POST', target, body, headers });
}
