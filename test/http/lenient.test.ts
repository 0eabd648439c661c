import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Settings that correspond to a project without `strictParams` and with SQLite. The other server has the defaults. */
const LENIENT = [
  ...['--strict-params', 'false', '--contains', 'case-insensitive'],
  ...['--default-limit', '2', '--max-limit', '3'],
];
const contentTypes = createKitchenTypes();
let lenient: RunningServer;
let strict: RunningServer;
let ask: Ask;
let askStrict: Ask;

beforeAll(async () => {
  [lenient, strict] = await Promise.all([
    startServer({ contentTypes, arguments: LENIENT }),
    startServer({ contentTypes }),
  ]);
  [ask, askStrict] = [createAsk(lenient.url), createAsk(strict.url)];
  for (const to of [ask, askStrict]) {
    for (const name of ['Ada', 'adam', 'Bob', 'Cyd']) {
      expect((await to('/api/cooks', { method: 'POST', body: { data: { name } } })).status).toBe(201);
    }
  }
});
afterAll(() => Promise.all([lenient.dispose(), strict.dispose()]));

const names = async (query: string) => {
  const { status, body } = await ask(`/api/cooks?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ name }: { name: string }) => name);
};

it('ignores unknown root parameters, names each once in the log, and counts them', async () => {
  const query = 'preview=5&_t=1&utm_source=x&publicationState=live&sort=name';
  expect(await names(query)).toEqual(['Ada', 'Bob']);
  expect(await names(query)).toEqual(['Ada', 'Bob']);
  for (const name of ['preview', '_t', 'utm_source', 'publicationState'])
    expect(lenient.output().split(`"parameter":"${name}"`)).toHaveLength(2);
  const metrics = String((await ask('/metrics')).body);
  expect(metrics).toMatch(/^varve_ignored_parameters_total 8$/m);
  const refused = await askStrict(`/api/cooks?${query}`);
  expect(refused.body.error.message).toBe('Invalid key preview');
});

it('ignores them on a single entry and on writes too', async () => {
  const [{ documentId }] = (await ask('/api/cooks?filters[name]=Ada')).body.data;
  const entry = `/api/cooks/${documentId}?preview=1`;
  expect((await ask(entry)).status).toBe(200);
  expect((await ask(entry, { method: 'PUT', body: { data: { name: 'Ada' } } })).status).toBe(200);
});

it.each([
  ['filters[nonsense]=1', 'Invalid key nonsense'],
  ['sort=nonsense', 'Invalid key nonsense'],
  ['populate=nonsense', 'Invalid key nonsense'],
  ['fields=nonsense', 'Invalid key nonsense'],
])('never drops %s', async (query, message) => {
  const { status, body } = await ask(`/api/cooks?${query}`);
  expect([status, body.error.message]).toEqual([400, message]);
});

it('treats an invalid status as draft, and an invalid locale as the default', async () => {
  const before = (await ask('/api/cooks?status=draft&sort=name')).body;
  expect((await ask('/api/cooks?status=live&sort=name')).body).toEqual(before);
  expect(await names('locale=not_a_locale&sort=name')).toEqual(['Ada', 'Bob']);
});

it.each([
  ['filters[name][$contains]=AD', ['Ada', 'adam']],
  ['filters[name][$startsWith]=a', ['Ada', 'adam']],
  ['filters[name][$endsWith]=A', ['Ada']],
  ['filters[name][$notContains]=AD', ['Bob', 'Cyd']],
  ['filters[name][$eq]=ada', []],
])('ignores case in %s', async (query, wanted) => {
  expect(await names(`${query}&sort=name`)).toEqual(wanted);
  if (query.includes('contains')) {
    const { body } = await askStrict(`/api/cooks?${query}`);
    expect(body.data).toEqual([]);
  }
});

it('limits pages as the project says', async () => {
  const { body } = await ask('/api/cooks?pagination[pageSize]=50');
  expect(body.meta.pagination).toMatchObject({ pageSize: 3, total: 4 });
  expect((await ask('/api/cooks')).body.meta.pagination.pageSize).toBe(2);
});
