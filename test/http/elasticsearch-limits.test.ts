import { cpSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoadedServer } from '../conformance/run-corpus.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { longRequests } from '../support/long-requests.ts';
import { createRandom } from '../support/naive-random.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';
import { type OwnNode, startOwnNode } from '../support/own-node.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const AT_ONCE = 4;
/** With this many threads a node accepts 1,024 clauses of a query, which is the least that any node accepts. */
const SMALL = 'thread_pool.search.size: 64';
const LONG = Array.from({ length: 3_000 }, (_, i) => `Wort${i}`).join(' ');

type Answer = { readonly status: number; readonly text: string };
type Entry = { readonly [name: string]: unknown };

async function answerOf(url: string, path: string): Promise<Answer> {
  const answer = await fetch(url + path);
  return { status: answer.status, text: await answer.text() };
}

/** Elasticsearch rounds the lengths of texts, so the order of the answers to a question may differ. */
function contentOf(path: string, { status, text }: Answer): string {
  const isQuestion = path.includes('?search=') && status === 200;
  return `${status} ${isQuestion ? JSON.stringify((JSON.parse(text) as { readonly meta: unknown }).meta) : text}`;
}

const briefly = ({ status, text }: Answer) => `${status} (${text.length}) ${text.slice(-200)}`;
const codeOf = ({ text }: Answer) =>
  (JSON.parse(text) as { readonly error: { readonly code?: string } }).error.code;

const options = await needsElasticsearch(takesMinutes('long requests on Elasticsearch with small limits'));

describe(`long requests (seed ${SEED})`, options, () => {
  let node: OwnNode;
  let proxy: ElasticsearchProxy;
  let embedded: RunningServer;
  let server: RunningServer;
  let requests: readonly string[];
  const copy = createDataDirectory();

  beforeAll(async () => {
    // The requests are long, so this node is as quick as that of the run.
    node = await startOwnNode(SMALL, 'for tests');
    proxy = await startElasticsearchProxy(node.url);
    const loaded = await startLoadedServer({});
    for (const [type, data] of LONG_ENTRIES) await create(loaded.url, type, data);
    const texts = await textsOf(loaded.url);
    requests = longRequests(conformanceRegistry(), createRandom(SEED), texts);
    expect((await loaded.stop()).code).toBe(0);
    cpSync(loaded.data, copy, { recursive: true });
    embedded = await startServer({ data: loaded.data });
    server = await startServer({ data: copy, arguments: ['--read-index', proxy.url] });
  }, 300_000);

  afterAll(async () => {
    await Promise.all([embedded?.dispose(), server?.dispose()]);
    proxy?.close();
    node?.dispose();
    for (const data of [copy, embedded?.data])
      if (data !== undefined) rmSync(data, { recursive: true, force: true });
  });

  /** Answers of the server on Elasticsearch by status; 200s are those of the embedded index, or `isAllowed` answers. */
  const walk = async (paths: readonly string[], isAllowed: (answer: Answer) => boolean) => {
    const counts = new Map<number, number>();
    const wrong: string[] = [];
    let next = 0;
    const compare = async () => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const [expected, actual] = await Promise.all([
          answerOf(embedded.url, path),
          answerOf(server.url, path),
        ]);
        counts.set(actual.status, (counts.get(actual.status) ?? 0) + 1);
        if (isAllowed(actual) || contentOf(path, actual) === contentOf(path, expected)) continue;
        wrong.push(`${path.slice(0, 300)}: ${briefly(actual)} instead of ${briefly(expected)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, compare));
    expect(wrong).toEqual([]);
    return counts;
  };
  const tooLarge = (answer: Answer) =>
    answer.status === 400 && ['query-too-large', 'page-too-far'].includes(codeOf(answer) ?? '');
  const refused = (answer: Answer) => answer.status === 503 && codeOf(answer) === 'read-index-unavailable';

  it('are answered as by the embedded index, or are a 400 that names what is too large', async () => {
    const counts = await walk(requests, tooLarge);
    expect([...counts.keys()].filter((status) => status >= 500)).toEqual([]);
    expect(counts.get(200)).toBeGreaterThan(requests.length / 2);
  }, 600_000);

  const SETTINGS: readonly (readonly [reason: string, path: string, settings: object])[] = [
    ['search.allow_expensive_queries', '/_cluster/settings', { 'search.allow_expensive_queries': false }],
    ['search.max_buckets', '/_cluster/settings', { 'search.max_buckets': 5 }],
    ['index.max_terms_count', '/varve-api*/_settings', { 'index.max_terms_count': 2 }],
    ['index.max_regex_length', '/varve-api*/_settings', { 'index.max_regex_length': 10 }],
  ];

  it.each(SETTINGS)(
    'are a 400 or 503 if %s does not allow them',
    async (reason, path, settings) => {
      const set = (value: object) =>
        put(node.url, path, path === '/_cluster/settings' ? { persistent: value } : value);
      await set(settings);
      const counts = await walk(some(), (answer) => tooLarge(answer) || refused(answer));
      await set(Object.fromEntries(Object.keys(settings).map((name) => [name, null])));
      expect([...counts.keys()].sort()).toEqual(expect.arrayContaining([200]));
      const refusals = counts.get(503) ?? 0;
      if (refusals > 0) await expect.poll(server.output).toContain(reason);
      else expect(counts.get(400)).toBeGreaterThan(0);
      expect(await walk(some().slice(0, 20), tooLarge)).not.toContain(503);
    },
    600_000,
  );

  it.each([401, 403, 405, 413, 500, 502])(
    'are never a 500 if the cluster answers %i',
    async (status) => {
      proxy.intercept(({ path }) =>
        path.includes('_search') || path.includes('_msearch')
          ? { status, json: { error: { type: 'refused', reason: `status ${status}` }, status } }
          : undefined,
      );
      const counts = await walk(some().slice(0, 30), (answer) => tooLarge(answer) || refused(answer));
      proxy.intercept(() => undefined);
      expect(counts.get(status === 413 ? 400 : 503)).toBeGreaterThan(0);
      if (status !== 413 && status !== 502) await expect.poll(server.output).toContain(`status ${status}`);
    },
    600_000,
  );

  it.each([401, 403])('do not lose a write if the cluster answers %i', async (status) => {
    const reason = `no right ${status}`;
    proxy.intercept(() => ({ status, json: { error: { type: 'security_exception', reason }, status } }));
    const key = `refused${status}`;
    const stored = await post(server.url, 'topics', { key, label: key });
    proxy.intercept(() => undefined);
    expect(stored).toBe(202);
    const path = `/api/topics?filters[key]=${key}&fields=key`;
    await expect
      .poll(async () => (await answerOf(server.url, path)).text, { timeout: 30_000 })
      .toContain(key);
  });

  /** A part of the requests, in which every kind of request occurs. */
  const some = () => requests.filter((_, i) => i % 7 === 0);
});

const LONG_ENTRIES: readonly (readonly [string, Entry])[] = [
  ['restaurants', { key: 'long1', name: 'Long', description: LONG, story: LONG.toLowerCase() }],
  [
    'restaurants',
    {
      key: 'long2',
      name: 'Longer',
      story: `${LONG} ${LONG}`,
      address: { street: LONG.slice(0, 255), city: 'Rome' },
    },
  ],
  ['restaurants', { key: 'long3', sections: [{ __component: 'blocks.quote', text: LONG }] }],
  ['chefs', { key: 'long4', name: LONG.slice(0, 255), bio: LONG }],
];

async function create(url: string, type: string, data: Entry): Promise<void> {
  expect(await post(url, type, data)).toBe(201);
}

/** Creates an entry. Returns the status of the answer. */
async function post(url: string, type: string, data: Entry): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ data });
  const answer = await fetch(`${url}/api/${type}`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

/** Returns texts of the content. */
async function textsOf(url: string): Promise<readonly string[]> {
  const answers = await Promise.all(
    ['restaurants', 'chefs', 'reviews', 'dishes'].map((type) =>
      answerOf(url, `/api/${type}?pagination[pageSize]=100`),
    ),
  );
  const entries = answers.flatMap(
    ({ text }) => (JSON.parse(text) as { readonly data: readonly Entry[] }).data,
  );
  return entries.flatMap((entry) =>
    ['name', 'title', 'description', 'story', 'bio', 'text'].flatMap((name) =>
      typeof entry[name] === 'string' && entry[name] !== '' ? [entry[name]] : [],
    ),
  );
}

async function put(url: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'PUT', headers, body: JSON.stringify(body) });
  expect(answer.status, await answer.text()).toBe(200);
}
