import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { postRequest } from '../../services/outbox/post-request.ts';
import { isPrivateAddress } from '../../services/outbox/private-address.ts';
import { describeWebhook } from '../../services/webhooks/describe-webhook.ts';
import type { WebhookCommands } from '../../services/webhooks/webhook-commands.ts';
import { parseWebhook } from '../../services/webhooks/webhook-request.ts';
import { newWebhookSecret, seal, signatureHeaders, unseal } from '../../services/webhooks/webhook-secret.ts';
import { retryAfterMs } from '../../shared/retry-after.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import { verifyWebhook } from '../support/standard-webhooks.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const KEY = Buffer.alloc(32, 7);
const MESSAGE = { id: 'wh_1', body: '{"event":"entry.create","entry":{"name":"Café"}}' };

it('signs as the library standardwebhooks verifies', () => {
  const secret = newWebhookSecret();
  const headers = signatureHeaders({ secrets: [{ secret, until: null }], headers: {} }, MESSAGE, Date.now());
  expect(verifyWebhook(secret, { body: MESSAGE.body, headers })).toMatchObject({ event: 'entry.create' });
  expect(() => verifyWebhook(secret, { body: `${MESSAGE.body} `, headers })).toThrow('No matching signature');
  expect(() => verifyWebhook(newWebhookSecret(), { body: MESSAGE.body, headers })).toThrow();
});

it('signs with the earlier secret too until it ends', () => {
  const [fresh, old] = [newWebhookSecret(), newWebhookSecret()];
  const now = Date.now();
  const sealed = (until: number) => ({
    secrets: [
      { secret: fresh, until: null },
      { secret: old, until },
    ],
    headers: {},
  });
  const both = signatureHeaders(sealed(now + 1), MESSAGE, now);
  for (const secret of [fresh, old])
    expect(() => verifyWebhook(secret, { body: MESSAGE.body, headers: both })).not.toThrow();
  const over = signatureHeaders(sealed(now), MESSAGE, now);
  expect(() => verifyWebhook(old, { body: MESSAGE.body, headers: over })).toThrow();
});

it('encrypts secrets for one hook and one key', () => {
  const content = { secrets: [{ secret: newWebhookSecret(), until: null }], headers: { a: 'b' } };
  const text = seal(KEY, 'one', content);
  expect(unseal(KEY, 'one', text)).toEqual(content);
  expect(text).not.toContain('whsec');
  expect(() => unseal(KEY, 'two', text)).toThrow('another access key');
  expect(() => unseal(Buffer.alloc(32, 8), 'one', text)).toThrow('another access key');
});

it.each([
  ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
  ...[
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ],
  // Services of clouds: AWS, Azure, Oracle, Alibaba, AWS and Google over IPv6.
  ...['169.254.169.254', '168.63.129.16', '192.0.0.192', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'],
  ...['224.0.0.1', '255.255.255.255', 'ff02::1', 'no address'],
])('calls %s private', (address) => expect(isPrivateAddress(address)).toBe(true));

it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'])(
  'calls %s public',
  (address) => expect(isPrivateAddress(address)).toBe(false),
);

const POST = { headers: {}, body: '{"event":"x"}', timeoutMs: 5_000, allowPrivate: false };

it('refuses private addresses, literal or resolved, and sends nothing', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const port = new URL(receiver.url).port;
  const resolve = async () => [
    { address: '8.8.8.8', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])
    expect(await postRequest({ ...POST, url: `http://${host}:${port}/` }), host).toMatchObject({
      kind: 'refused',
    });
  const rebound = await postRequest({ ...POST, url: `http://example.org:${port}/`, resolve });
  expect(rebound).toMatchObject({ kind: 'refused', reason: expect.stringContaining('127.0.0.1') });
  expect(receiver.received).toEqual([]);
});

it('connects to the address that it checked, also if the name resolves to another one later', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  let asked = 0;
  const resolve = async () => {
    asked += 1;
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const url = `http://no-such-name.invalid:${new URL(receiver.url).port}/`;
  const result = await postRequest({ ...POST, url, allowPrivate: true, resolve });
  expect(result).toMatchObject({ kind: 'answered', status: 200 });
  expect(asked).toBe(1);
  expect(receiver.received[0]?.headers.host).toContain('no-such-name.invalid');
});

it('fails if a name has no address', async () => {
  const post = { ...POST, url: 'http://nobody.example/', resolve: async () => [] };
  expect(await postRequest(post)).toEqual({ kind: 'failed', reason: 'nobody.example has no address' });
});

it('follows no redirect, and waits no longer than its timeout', async () => {
  const [receiver, other] = [await startReceiver(), await startReceiver()];
  onTestFinished(receiver.close);
  onTestFinished(other.close);
  receiver.answer(() => ({ status: 307, headers: { location: other.url } }));
  const post = { ...POST, url: receiver.url, allowPrivate: true };
  expect(await postRequest(post)).toMatchObject({ kind: 'answered', status: 307 });
  receiver.answer(() => ({ status: 200, hangs: true }));
  expect(await postRequest({ ...post, timeoutMs: 20 })).toEqual({
    kind: 'failed',
    reason: 'no answer within 20 ms',
  });
  expect(other.received).toEqual([]);
});

it('waits for no name longer than its time limit, and not at all when it should end', async () => {
  const ending = new AbortController();
  const post = { ...POST, url: 'http://slow.invalid/', resolve: () => new Promise<never>(() => {}) };
  expect(await postRequest({ ...post, timeoutMs: 20 })).toEqual({
    kind: 'failed',
    reason: 'no answer within 20 ms',
  });
  const ended = postRequest({ ...post, timeoutMs: 60_000, signal: ending.signal });
  ending.abort();
  expect(await ended).toMatchObject({ kind: 'failed' });
  expect(await postRequest({ ...post, signal: ending.signal })).toMatchObject({ kind: 'failed' });
});

it('reads no more than 64 KiB of an answer, however long that is', async () => {
  const endless = createServer((_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.writeHead(201).on('drain', more);
    more();
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  onTestFinished(() => void endless.close());
  const { port } = endless.address() as AddressInfo;
  const post = { ...POST, url: `http://127.0.0.1:${port}/`, allowPrivate: true, timeoutMs: 60_000 };
  expect(await postRequest(post)).toMatchObject({ kind: 'answered', status: 201 });
});

it('reads Retry-After as seconds and as a date', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs('Tue, 01 Jan 2030 00:00:30 GMT', now)).toBe(30_000);
  expect(retryAfterMs('soon', now)).toBeUndefined();
  // This is longer than the limits of all callers.
  expect(retryAfterMs('9'.repeat(400), now)).toBe(1e12);
});

it.each(['https://example.org?mail=a@b', 'https://example.org/@a#b@c'])('accepts %s', (url) => {
  expect(parseWebhook({ url }, undefined)).toMatchObject({ kind: 'parsed', value: { url } });
});

it.each([
  [{}, 'url', 'is missing'],
  [{ url: 'ftp://example.org' }, 'url', 'must be an http or https address'],
  [{ url: 'https://example.org', populate: '\ud800' }, 'populate', 'must not contain unpaired surrogates'],
  [{ url: 'https://a:b@example.org' }, 'url', 'must not contain a user'],
  [{ url: 'https:///a:b@example.org' }, 'url', 'must not contain a user'],
  [{ url: 'https://:b@example.org' }, 'url', 'must not contain a user'],
  [{ url: 'https://exam\nple.org' }, 'url', 'must be an http or https address'],
  [{ url: 'https://example.org', events: '' }, 'events', 'is empty'],
  [{ url: 'https://example.org', locales: '*' }, 'locales', 'must be locales such as'],
  [{ url: 'https://example.org', name: 'a\u001b[31m' }, 'name', 'has control characters'],
  [{ url: `https://example.org/${'a'.repeat(2_000)}` }, 'url', 'at most 2000 characters'],
  [{ url: 'https://example.org', headers: JSON.parse('{"__proto__":"x"}') }, 'headers', '__proto__'],
  [{ url: 'https://example.org', headers: { a: 'b'.repeat(4_000) } }, 'headers', 'more than 4000 characters'],
  [
    { url: 'https://example.org', types: 'plugin::users-permissions.user' },
    'types',
    'users send no webhooks',
  ],
  [undefined, 'data', 'must be an object'],
  [
    { url: 'https://example.org', headers: { 'X-A': '1', 'x-a': '2' } },
    'headers',
    'has the same header twice',
  ],
  [
    { url: 'https://example.org', headers: { Expect: '100-continue' } },
    'headers',
    'only Varve or the connection may set',
  ],
  [{ url: 'https://example.org', events: 'entry.create,entry.made' }, 'events', 'got "entry.made"'],
  [{ url: 'https://example.org', types: ['restaurant'] }, 'types', 'which is not a content type'],
  [
    { url: 'https://example.org', headers: { 'Webhook-Id': 'x' } },
    'headers',
    'only Varve or the connection may set',
  ],
  [{ url: 'https://example.org', headers: { a: 'b\r\nc: d' } }, 'headers', 'that a header cannot have'],
  [{ url: 'http://169.254.169.254/latest' }, 'url', 'has a private address: pass --allow-private'],
  [{ url: 'http://0x7f.1/' }, 'url', 'has a private address'],
  [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url', 'has a private address'],
  [{ url: 'https://example.org', colour: 'red' }, '', 'has no colour'],
])('refuses the webhook %j', (given, path, message) => {
  expect(parseWebhook(given, undefined)).toMatchObject({
    kind: 'problems',
    problems: [{ path, message: expect.stringContaining(message) }],
  });
});

it.each([
  { url: 'http://10.0.0.1/', allowPrivate: true },
  { url: 'http://8.8.8.8/' },
  { url: 'https://intranet.example.org/' },
])('accepts the webhook %j', (given) => {
  expect(parseWebhook(given, undefined)).toMatchObject({ kind: 'parsed' });
});

it('describes a webhook whose headers another key encrypted', () => {
  const hook = { id: 'a', name: 'a', sealed: 'x', since: 3n } as unknown as Webhook;
  const commands = { open: () => JSON.parse('damaged') } as unknown as WebhookCommands;
  expect(describeWebhook(hook, commands, undefined)).toEqual({
    id: 'a',
    name: 'a',
    since: '3',
    headers: null,
  });
});
