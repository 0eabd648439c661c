import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import insights, { type InsightsClient } from 'search-insights';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ListedSearch } from '../../services/searches/list-searches.ts';
import { createAsk, createCallers } from '../support/access-client.ts';
import { createApiClient } from '../support/api-client.ts';
import { startOnElasticsearch } from '../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { replaced } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The types of the package are those of its CommonJS form. */
const aa = insights as unknown as InsightsClient;

const PATH = '/_varve/searches';
const RESTAURANT = 'api::restaurant.restaurant';
const START = { contentTypes: 'examples/restaurants' };
const COUNTING = ['--examples', '--search-log-days', '7'];

type Hit = { readonly objectID: string };
type Answer = { readonly hits: readonly Hit[]; readonly queryID?: string; readonly message?: string };
type Listed = Partial<ListedSearch>;

async function searchOne({ url }: RunningServer, parameters: object, index = 'restaurants'): Promise<Answer> {
  const body = JSON.stringify({ requests: [{ indexName: index, ...parameters }] });
  const answer = await fetch(`${url}/1/indexes/*/queries`, { method: 'POST', body });
  const { results, ...refused } = (await answer.json()) as Answer & { readonly results?: [Answer] };
  return results?.[0] ?? refused;
}

async function sendEvents({ url }: RunningServer, body: unknown) {
  const answer = await fetch(`${url}/1/events`, { method: 'POST', body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as { readonly message: string } };
}

function listed({ url }: RunningServer, query = ''): Promise<readonly Listed[]> {
  return createApiClient(url).data('GET', `${PATH}${query}`);
}

const counting = () => ({
  ...START,
  arguments: [...COUNTING, '--log-level', 'trace', '--slow-query-ms', '0'],
});

describe('on the embedded index', () => describeCounts(() => startServer(counting())));

const skip = takesMinutes('counts of searches on Elasticsearch');
describe('on Elasticsearch', await needsElasticsearch(skip), () =>
  describeCounts(() => startOnElasticsearch(counting())),
);

function describeCounts(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  beforeAll(async () => {
    server = await start();
  }, 180_000);
  afterAll(() => server.dispose());

  it('counts searches of lists and of InstantSearch in one place, with clicks of the unmodified client', async () => {
    const { call, data } = createApiClient(server.url);
    await data('DELETE', PATH);
    expect((await call('GET', '/api/restaurants?search=Taberna')).status).toBe(200);
    expect((await call('GET', '/api/restaurants?search=taberna&pagination[page]=2')).status).toBe(200);
    expect((await call('GET', '/api/restaurants/_suggest?q=taberna')).status).toBe(200);
    expect((await call('GET', '/api/restaurants?search=zzqqxx')).status).toBe(200);
    const plain = await searchOne(server, { query: 'taberna' });
    expect(plain.queryID).toBeUndefined();
    await searchOne(server, { query: 'taberna', analytics: false });
    await searchOne(server, { query: 'taberna', hitsPerPage: 0 });
    expect((await searchOne(server, { query: '', clickAnalytics: true })).queryID).toBeUndefined();
    const { queryID, hits } = await searchOne(server, { query: 'taberna', clickAnalytics: true });
    expect(queryID).toMatch(/^[0-9a-f]{32}$/);

    aa('init', { appId: 'varve', apiKey: 'public', host: server.url });
    aa('setUserToken', 'somebody');
    const clicked = aa('clickedObjectIDsAfterSearch', {
      eventName: 'a hit was clicked',
      index: 'restaurants',
      queryID: queryID as string,
      objectIDs: [hits[0]?.objectID as string],
      positions: [3],
    });
    expect(await clicked).not.toBe(false);
    await aa('viewedObjectIDs', { eventName: 'seen', index: 'restaurants', objectIDs: ['x'] });
    const conversion = {
      eventName: 'bought',
      index: 'restaurants',
      queryID: queryID as string,
      objectIDs: ['x'],
    };
    await aa('convertedObjectIDsAfterSearch', conversion);

    const counted = { type: RESTAURANT, locale: 'en', query: 'taberna', count: 3, none: 0 };
    await expect
      .poll(() => listed(server))
      .toMatchObject([
        { ...counted, clicks: 1, position: 3 },
        { query: 'zzqqxx', count: 1, none: 1, clicks: 0, position: null },
      ]);
    expect(await listed(server, '?order=none')).toMatchObject([{ query: 'zzqqxx' }]);
    expect(await listed(server, '?order=clicks')).toMatchObject([{ query: 'taberna' }]);
    expect(await listed(server, '?type=api::unknown.unknown')).toEqual([]);
    const { meta } = await call(`GET`, `${PATH}?days=2`);
    expect(meta).toMatchObject({ searches: 4, queries: 2, dropped: 0, countedBy: 'this server' });
    for (const query of ['days=0', 'days=367', 'days=x', 'order=words', `type=${'x'.repeat(201)}`, 'foo=1'])
      expect((await call('GET', `${PATH}?${query}`)).status, query).toBe(400);
  });

  it('keeps the words in no other file and no line of the log, and nothing of who searched', async () => {
    const word = 'kwyjibozzled';
    const { queryID } = await searchOne(server, {
      query: word,
      clickAnalytics: true,
      userToken: 'usertokenzz',
    });
    const click = { eventType: 'click', queryID, positions: [1], userToken: 'usertokenzz', index: word };
    expect((await sendEvents(server, { events: [click] })).status).toBe(200);
    expect(await listed(server)).toEqual(
      expect.arrayContaining([expect.objectContaining({ query: word, none: 1, clicks: 1 })]),
    );
    const having = (text: string) =>
      readdirSync(server.data, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))
        .map(({ name }) => name.replace(/-wal$/, ''));
    expect([...new Set(having(word))]).toEqual(['searches.db']);
    expect(having('usertokenzz')).toEqual([]);
    expect(having('127.0.0.1').filter((name) => name.startsWith('searches.db'))).toEqual([]);
    expect(server.output()).not.toMatch(/kwyjibozzled|usertokenzz/);
  });

  it('answers clicks on unknown, forbidden and private names alike, and refuses malformed ones', async () => {
    const click = { eventType: 'click', positions: [1] };
    const ok = { status: 200, body: { status: 200, message: 'OK' } };
    for (const index of ['restaurants', 'unknown', 'plugin::users-permissions.user', undefined])
      for (const queryID of ['f'.repeat(32), 'x', undefined])
        expect(await sendEvents(server, { events: [{ ...click, index, queryID }] })).toEqual(ok);
    expect(await sendEvents(server, { events: Array.from({ length: 1_000 }, () => click) })).toEqual(ok);
    for (const body of [
      {},
      { events: Array.from({ length: 1_001 }, () => click) },
      { events: [{ ...click, eventType: 'other' }] },
      { events: [{ ...click, positions: [0] }] },
      { events: [{ ...click, positions: [1_000_001] }] },
      { events: [{ ...click, positions: Array.from({ length: 21 }, () => 1) }] },
      { events: [{ ...click, queryID: 'x'.repeat(101) }] },
    ])
      expect((await sendEvents(server, body)).status, JSON.stringify(body).slice(0, 80)).toBe(400);
  });

  it('counts no search of a type that does not exist, or that the caller may not find', async () => {
    const { call, data } = createApiClient(server.url);
    await data('DELETE', PATH);
    const user = 'plugin::users-permissions.user';
    for (const index of ['unknown', user]) {
      const { message } = await searchOne(server, { query: 'secretive', clickAnalytics: true }, index);
      expect(message?.replaceAll(index, '…')).toMatch(/…/);
    }
    expect((await call('GET', '/api/unknowns?search=secretive')).status).toBe(404);
    expect(await listed(server)).toEqual([]);
  });

  it('lists and removes counts by commands, while the server runs and afterwards', async () => {
    await createApiClient(server.url).data('DELETE', PATH);
    await searchOne(server, { query: 'taberna' });
    await listed(server);
    const run = (...args: readonly string[]) => runVarve(['searches', ...args, '--data', server.data], {});
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject([{ query: 'taberna', count: 1 }]);
    expect((await run('list')).stdout).toMatch(/QUERY +SEARCHES[\s\S]+taberna +1 /);
    expect((await run('list', '--order', 'none')).stderr).toMatch('No such searches were counted.');
    const wrong = await run('list', '--days', '0', '--order', 'x');
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(/--days/);
    expect((await run('clear')).stdout).toBe('1 counts of searches are removed\n');
    await searchOne(server, { query: 'chair' });
    await server.stop();
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject([{ query: 'chair', count: 1 }]);
  });
}

it('counts nothing by default, and refuses events with a sentence', async () => {
  const server = await startServer({ ...START, arguments: ['--examples'] });
  onTestFinished(() => server.dispose());
  const { queryID } = await searchOne(server, { query: 'taberna', clickAnalytics: true });
  expect(queryID).toBeUndefined();
  const events = await sendEvents(server, { events: [] });
  expect(events).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching('--search-log-days') },
  });
  const { call } = createApiClient(server.url);
  expect(await call('GET', PATH)).toMatchObject({ status: 200, data: [], meta: { keptDays: 0 } });
  const message = expect.stringMatching('--search-log-days');
  expect(await call('DELETE', PATH)).toMatchObject({ status: 400, error: { message } });
  expect(readdirSync(server.data)).not.toContain('searches.db');
  const { code, stderr } = await runVarve(['searches', 'list', '--data', server.data], {});
  expect(code).toBe(1);
  expect(stderr).toMatch(/there is no .*searches\.db: varve serve counts searches with --search-log-days/);
});

const LONG = { ...takesMinutes('counts of several workers'), timeout: 120_000 };

it('adds up what all workers of a server count', LONG, async () => {
  const server = await startServer({ ...START, arguments: [...COUNTING, '--workers', '2'] });
  onTestFinished(() => server.dispose());
  for (let i = 0; i < 10; i++) {
    const { queryID } = await searchOne(server, { query: 'taberna', clickAnalytics: true });
    await sendEvents(server, { events: [{ eventType: 'click', queryID, positions: [2] }] });
  }
  await delay(11_000);
  await expect
    .poll(() => listed(server), { timeout: 30_000 })
    .toMatchObject([{ query: 'taberna', count: 10, clicks: 10, position: 2 }]);
});

it('does not count the searches by which the next worker warms up', LONG, async () => {
  const server = await startServer({ ...START, arguments: COUNTING });
  onTestFinished(() => server.dispose());
  const { call } = createApiClient(server.url);
  expect((await call('GET', '/api/restaurants?search=taberna')).status).toBe(200);
  const first = server.worker() ?? 0;
  process.kill(server.supervisor, 'SIGHUP');
  await replaced(server, first);
  await expect
    .poll(() => listed(server), { timeout: 60_000 })
    .toMatchObject([{ query: 'taberna', count: 1 }]);
});

it('answers searches of forbidden types as of unknown ones, counts neither, and shows counts to full access only', async () => {
  const server = await startServer({ ...START, arguments: COUNTING });
  onTestFinished(() => server.dispose());
  const { askAll, ask, token } = await createCallers(server.url, ['restaurant.find']);
  const searchAs = async (index: string) => {
    const body = { requests: [{ indexName: index, query: 'lisbon', clickAnalytics: true }] };
    const answer = await ask('/1/indexes/*/queries', { method: 'POST', body });
    return { status: answer.status, text: JSON.stringify(answer.body).replaceAll(index, '…') };
  };
  expect(await searchAs('cities')).toEqual(await searchAs('unknowns'));
  expect((await searchAs('restaurants')).status).toBe(200);
  expect((await askAll('/_varve/searches')).body.data).toMatchObject([
    { type: RESTAURANT, query: 'lisbon', count: 1 },
  ]);
  for (const method of ['GET', 'DELETE'])
    for (const as of [ask, createAsk(server.url), createAsk(server.url, `${token}x`)])
      expect([401, 403]).toContain((await as('/_varve/searches', { method })).status);
});
