import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const TAGS = ['api::tag.tag.find', 'api::tag.tag.findOne'];
const data = createDataDirectory();
let server: RunningServer;
let [site, other, administrator]: Ask[] = [];
let documentId: string;
beforeAll(async () => {
  server = await startServer({ data });
  const open = createAsk(server.url);
  const made = await open('/api/tags', { method: 'POST', body: { data: { key: 'a' } } });
  documentId = made.body.data.documentId;
  const secret = await createTokenOver(open, { name: 'admin', type: 'full-access' });
  const setUp = createAsk(server.url, secret);
  await setUp('/_varve/public', { method: 'PUT', body: { data: { allow: TAGS } } });
  const secrets = await Promise.all([
    createTokenOver(setUp, { name: 'site', type: 'custom', allow: TAGS }),
    createTokenOver(setUp, { name: 'other', type: 'custom', allow: TAGS }),
  ]);
  await server.stop('SIGTERM');
  server = await startServer({ data, arguments: ['--cache-token', 'site', '--cache-tags', 'varnish'] });
  [site, other, administrator] = [...secrets, secret].map((one) => createAsk(server.url, one));
});
afterAll(() => server?.dispose());

const cachingOf = async (ask: Ask | undefined, path: string, headers = {}) => {
  const answer = await ask?.(path, { headers });
  return [answer?.headers.get('cache-control')?.split(',')[0], answer?.headers.get('xkey') !== null];
};

it('makes the answers to one token public, with tags, but not those to another one with equal rights', async () => {
  const entry = `/api/tags/${documentId}`;
  for (let i = 0; i < 3; i++) {
    expect(await cachingOf(site, entry)).toEqual(['public', true]);
    expect(await cachingOf(other, entry)).toEqual(['private', false]);
  }
  const etag = (await site?.(entry))?.headers.get('etag') ?? '';
  expect(await cachingOf(site, entry, { 'if-none-match': etag })).toEqual(['public', true]);
  expect(await cachingOf(other, entry, { 'if-none-match': etag })).toEqual(['private', false]);
  expect(await cachingOf(site, '/api/tags/nobody')).toEqual(['no-store', true]);
  expect(await cachingOf(other, '/api/tags/nobody')).toEqual(['no-store', false]);
  expect(await cachingOf(site, entry, { 'varve-min-position': '1' })).toEqual(['no-store', false]);
});

it('makes them private as soon as callers without a token may see less', async () => {
  const allow = (rights: readonly string[]) =>
    administrator?.('/_varve/public', { method: 'PUT', body: { data: { allow: rights } } });
  await allow(TAGS.slice(0, 1));
  await expect.poll(() => cachingOf(site, '/api/tags')).toEqual(['private', false]);
  await expect.poll(server.output).toContain('api::tag.tag.findOne');
  await allow(TAGS);
  await expect.poll(() => cachingOf(site, '/api/tags')).toEqual(['public', true]);
});

it('refuses to start with a token that sees more', takesMinutes('cache tokens at the start'), async () => {
  await server.stop('SIGTERM');
  const places = ['--data', data, '--content-types', CONFORMANCE_SCHEMA, '--port', '0'];
  const { exited } = spawnVarve(['serve', ...places, '--cache-token', 'admin']);
  const { code, output } = await exited;
  expect(code).toBe(1);
  expect(output).toContain('--cache-token (VARVE_CACHE_TOKEN) cannot be used: the token "admin" sees more');
});
