import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { REDACTING, redactSecrets } from '../../../services/operating/redact-secrets.ts';

/** A secret that can be recognised in every output. */
const SECRET = 'hunter2hunter2';

it.each([
  ['a header', { headers: { authorization: `Bearer ${SECRET}` } }],
  ['a header in another case', { headers: { Authorization: `ApiKey ${SECRET}` } }],
  ['a cookie', { cookie: `session=${SECRET}` }],
  ['a setting', { settings: { password: SECRET, accessKey: SECRET, apiKey: SECRET, token: SECRET } }],
  ['a URL', { url: `kurrentdb://admin:${SECRET}@db:2113?tls=true` }],
  ['a query string', { url: `/1/indexes/*/queries?x-algolia-api-key=${SECRET}&x-algolia-agent=x` }],
  ['an application in a query string', { url: `/1/indexes/*/queries?x-algolia-application-id=${SECRET}` }],
  ["Algolia's application", { headers: { 'x-algolia-application-id': SECRET } }],
  ["Algolia's header", { headers: { 'x-algolia-api-key': SECRET } }],
  ['text', { reason: `refused "Bearer ${SECRET}"` }],
  ['a list', { many: [{ deep: [{ secret: SECRET }] }] }],
  ['bytes', { body: Buffer.from(SECRET) }],
])('hides a secret in %s', (_name, line) => {
  expect(JSON.stringify(redactSecrets(line))).not.toContain(SECRET);
});

it('hides secrets in errors of drivers, which carry their requests, and in their causes', () => {
  const cause = new Error(`connect https://elastic:${SECRET}@es:9200`);
  const error = Object.assign(new Error(`401 for Basic ${SECRET}`, { cause }), {
    meta: { request: { params: { headers: { authorization: SECRET } } } },
    status: 401,
  });
  const shown = redactSecrets({ err: error });
  expect(JSON.stringify(shown)).not.toContain(SECRET);
  expect(shown).toMatchObject({
    err: { type: 'Error', status: 401, stack: expect.stringContaining('redact-secrets.test'), cause: {} },
  });
});

// A quadratic algorithm would need minutes.
it('reads a long word once', () => {
  const line = { query: 'a'.repeat(1_000_000) };
  expect(redactSecrets(line)).toEqual(line);
});

it('changes nothing else', () => {
  const line = {
    requestId: 'a-1',
    ms: 12.5,
    url: '/api/users?sort=name',
    list: [1, null, true],
    none: undefined,
  };
  expect(redactSecrets(line)).toEqual(line);
});

it('terminates on values that contain themselves', () => {
  const line: Record<string, unknown> = { name: 'x' };
  line['self'] = line;
  expect(redactSecrets(line)).toMatchObject({ name: 'x', self: { name: 'x' } });
});

it("works in pino, before pino's own serializer of errors", () => {
  const lines = new PassThrough();
  const logger = pino(REDACTING, lines);
  logger.error({ err: new Error(`Bearer ${SECRET}`) }, 'failed');
  const line = JSON.parse(String(lines.read()));
  expect(line).toMatchObject({ msg: 'failed', err: { type: 'Error', message: 'Bearer [redacted]' } });
});
