import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { readFeed } from '../support/feed-client.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const RESTAURANT = 'api::restaurant.restaurant';
const CHEF = 'api::chef.chef';

let server: RunningServer;
let ask: Ask;

async function write(method: string, path: string, data?: object): Promise<string> {
  const { status, body } = await ask(path, { method, ...(data !== undefined && { body: { data } }) });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body?.data?.documentId;
}

const latest = async (query: string) => (await readFeed(ask, query)).next;

async function importLines(lines: readonly object[]): Promise<void> {
  const file = join(createDataDirectory(), 'lines.jsonl');
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const ran = await runVarve(['import', file, '--content-types', CONFORMANCE_SCHEMA, '--data', server.data]);
  expect(ran.code, ran.stderr).toBe(0);
}

const tags = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ type: 'tag', key: `${name}${n}`, state: 'live', data: { key: `${name}${n}`, name } },
  }));

describe('the feed', { ...takesMinutes('limits of the feed'), timeout: 300_000 }, () => {
  beforeAll(async () => {
    server = await startServer();
    ask = createAsk(server.url);
  }, 300_000);
  afterAll(() => server?.dispose());

  it('reads at most 5,000 events for a page, and reports that there may be more', async () => {
    const since = await latest('types=articles');
    await importLines(tags('many', 5_100));
    const id = await write('POST', '/api/articles', { key: 'behind', title: 'a' });
    const first = await ask(`/api/_changes?types=articles&since=${since}`);
    expect(first.body).toMatchObject({ data: [], meta: { hasMore: true } });
    const rest = await readFeed(ask, 'types=articles', first.body.meta.next);
    expect(rest.items.map(({ documentId }) => documentId)).toEqual([id]);
    const whole = await readFeed(ask, 'types=tags&limit=1000');
    expect(new Set(whole.items.map(({ documentId }) => documentId)).size).toBe(5_100);
    expect(whole.pages).toBe(6);
  });

  it('lists up to 1,000 related documents of a type one by one, and names only the type if there are more', async () => {
    const query = `types=${RESTAURANT}&related=true&limit=1000`;
    const chef = { $ref: 'chef:boss' };
    await importLines([
      { type: 'chef', key: 'boss', state: 'published', data: { key: 'boss', name: 'Ada' } },
      ...Array.from({ length: 1_001 }, (_, n) => ({
        ...{ type: 'restaurant', key: `r${n}`, state: 'published', data: { key: `r${n}`, name: 'R', chef } },
      })),
    ]);
    const [boss] = (await ask('/api/chefs?filters[key]=boss')).body.data;
    const one = (await ask('/api/restaurants?filters[key]=r0')).body.data[0].documentId;
    const rename = async (name: string) => {
      const since = await latest(query);
      await write('PUT', `/api/chefs/${boss.documentId}`, { name });
      return (await readFeed(ask, query, since)).items;
    };
    const [item, ...others] = await rename('Bea');
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      ...{ type: RESTAURANT, status: 'published', event: 'related', locales: [] },
      cause: { type: CHEF, documentId: boss.documentId },
    });
    expect(item).not.toHaveProperty('documentId');
    await write('DELETE', `/api/restaurants/${one}`);
    const items = await rename('Cleo');
    expect(new Set(items.map(({ documentId }) => documentId)).size).toBe(1_000);
    expect(items.every(({ documentId }) => documentId !== undefined && documentId !== one)).toBe(true);
  });

  it('searches 500 events for links of a publication, and counts it as a change if there are more', async () => {
    const query = 'types=restaurants';
    const id = await write('POST', '/api/restaurants', { key: 'hidden', name: 'R' });
    const path = `/api/restaurants/${id}`;
    const publishHidden = async (internalNote: string) => {
      const since = await latest(query);
      await write('PUT', `${path}?status=draft`, { internalNote });
      await write('POST', `${path}/actions/publish`);
      return (await readFeed(ask, query, since)).items.map(({ event, changed }) => [event, changed]);
    };
    expect(await publishHidden('1234')).toEqual([]);
    await importLines(tags('few', 400));
    expect(await publishHidden('2345')).toEqual([]);
    await importLines(tags('more', 501));
    expect(await publishHidden('3456')).toEqual([['update', []]]);
  });
});
