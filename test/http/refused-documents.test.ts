import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longInBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import {
  type ElasticsearchProxy,
  type InterceptedAnswer,
  startElasticsearchProxy,
} from '../support/elasticsearch-proxy.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Documents that a real Elasticsearch refuses each time. Everything else has to continue. */
const TITLE = 'a document that Elasticsearch refuses';
const space = `refused_${process.pid}`;
const data = createDataDirectory();
let elasticsearch: string;
let proxy: ElasticsearchProxy;
let server: RunningServer;

const start = () =>
  startServer({
    data,
    arguments: ['--read-index', proxy.url, '--space', space, '--body-limit', '60000000'],
  });

type Answer = { readonly status: number; readonly text: string };

async function send(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${server.url}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify({ data: body }) }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function keysOf(filter: string): Promise<readonly unknown[]> {
  const { text } = await send('GET', `restaurants?${filter}&fields[0]=key`);
  return (JSON.parse(text) as { data: { key: unknown }[] }).data.map(({ key }) => key);
}

type Parked = { readonly type: string; readonly documentId: string; readonly reason: string };

async function parked(): Promise<readonly Parked[]> {
  const { stdout } = await runVarve(['parked', 'list', '--json', '--data', data]);
  return JSON.parse(stdout) as readonly Parked[];
}

const documentIdOf = ({ text }: Answer): string =>
  (JSON.parse(text) as { data: { documentId: string } }).data.documentId;

const logged = (documentId: string) =>
  server
    .output()
    .split('\n')
    .filter((line) => line.includes('Elasticsearch refuses a document') && line.includes(documentId));

/** Reason in the answer to a stored write that Elasticsearch refuses. */
const REFUSED = {
  code: 'document-refused',
  message: expect.stringMatching(/^The write is stored, but .* refuses the draft version \(\w+\)/),
};

const isReady = async () => (await fetch(`${server.url}/health/ready`)).status;

/** Refuses documents with some words for good, as a wrong value, and all others of the request, as a full queue. */
function wrongValue(body: string, words: string): InterceptedAnswer {
  const lines = body.split('\n');
  const actions = lines.flatMap((line, i) => (/^\{"(index|delete)":\{"_index"/.test(line) ? [i] : []));
  const items = actions.map((i) =>
    lines[i + 1]?.includes(words) === true
      ? {
          index: {
            status: 400,
            error: { type: 'document_parsing_exception', reason: 'failed to parse field' },
          },
        }
      : { index: { status: 429, error: { type: 'es_rejected_execution_exception', reason: 'full' } } },
  );
  return { status: 200, json: { errors: true, items } };
}

/** Returns a text whose document the node counts above its limit for one operation: four times its bytes. */
async function tooLongText(): Promise<string> {
  const stats = (await (await fetch(`${elasticsearch}/_nodes/stats/indexing_pressure`)).json()) as {
    nodes: { [id: string]: { indexing_pressure: { memory: { limit_in_bytes: number } } } };
  };
  const [node] = Object.values(stats.nodes);
  const characters = (node?.indexing_pressure.memory.limit_in_bytes ?? 0) / 15;
  let text = '';
  for (let n = 0; text.length < characters; n++) text += `word${(n * 7919) % 1_000_003} `;
  return text;
}

describe(TITLE, await needsElasticsearch(takesMinutes(TITLE)), () => {
  beforeAll(async () => {
    elasticsearch = await elasticsearchUrl();
    proxy = await startElasticsearchProxy(elasticsearch);
    server = await start();
  }, 180_000);
  afterAll(async () => {
    await server?.dispose();
    proxy?.close();
    await removeIndices(elasticsearch, space);
  });

  it('is parked because it is too large for the heap, while later writes are shown', async () => {
    const story = await tooLongText();
    let attempts = 0;
    proxy.intercept(({ path, body }) => {
      const isAlone = body.split('\n').length === 3;
      if (path.startsWith('/_bulk') && isAlone && body.includes('"key":"large"')) attempts++;
      return undefined;
    });
    const large = send('POST', 'restaurants', { key: 'large', name: 'Large', story });
    const others: Answer[] = [];
    for (let n = 0; n < 5; n++)
      others.push(await send('POST', 'restaurants', { key: `other${n}`, name: 'Other' }));
    // 202: the first of them may wait for the request with the large document.
    expect(others.map(({ status }) => status)).toEqual(Array(5).fill(expect.toBeOneOf([201, 202])));
    const { status, text } = await large;
    expect(status).toBe(202);
    await expect.poll(parked, { timeout: 60_000 }).toHaveLength(2);
    await expect.poll(() => keysOf('filters[name][$eq]=Other'), { timeout: 60_000 }).toHaveLength(5);
    expect(await isReady()).toBe(200);
    const items = await parked();
    expect(items).toMatchObject([
      {
        type: 'api::restaurant.restaurant',
        locale: null,
        reason: expect.stringContaining('rejected execution'),
      },
      {
        type: 'api::restaurant.restaurant',
        locale: null,
        reason: expect.stringContaining('rejected execution'),
      },
    ]);
    const { documentId } = items[0] ?? expect.unreachable();
    // Once for the draft and once for the published row.
    expect(logged(items[0]?.documentId ?? '')).toHaveLength(2);
    expect(server.output()).not.toContain('accepts no documents');
    // Once for each row, unless the node is too busy to say why. Without that answer there are at least three attempts at each.
    expect(attempts).toBeLessThan(6);
    // A client waits for at most ten seconds, so the first answer may come before the document is parked.
    expect(JSON.parse(text)).toMatchObject({ data: { documentId }, meta: { reason: {} } });
    const again = await send('PUT', `restaurants/${documentId}`, { name: 'Large' });
    expect([again.status, JSON.parse(again.text)]).toMatchObject([
      202,
      { data: { documentId }, meta: { reason: REFUSED } },
    ]);
    // The next state of the document is accepted.
    expect((await send('PUT', `restaurants/${items[0]?.documentId}`, { story: 'short' })).status).toBe(200);
    expect(await keysOf('filters[story][$eq]=short')).toEqual(['large']);
    expect(await parked()).toEqual([]);
  }, 240_000);

  it('delays no start, neither before nor after it is parked', async () => {
    let isRefused = true;
    let refusals = 0;
    proxy.intercept(({ path, body }) => {
      if (!isRefused || !path.startsWith('/_bulk') || !body.includes('"key":"heavy"')) return undefined;
      refusals++;
      const error = { type: 'circuit_breaking_exception', reason: '[parent] Data too large' };
      return { status: 429, json: { error, status: 429 } };
    });
    const made = send('POST', 'restaurants', { key: 'heavy', name: 'Heavy' }).catch(() => undefined);
    await expect.poll(() => refusals, { timeout: 60_000 }).toBeGreaterThan(0);
    await server.stop('SIGKILL');
    await made;
    server = await start();
    expect((await send('POST', 'restaurants', { key: 'light', name: 'Light' })).status).toBe(201);
    await expect
      .poll(async () => (await parked()).map(({ reason }) => reason), { timeout: 60_000 })
      .toEqual(Array(2).fill(expect.stringContaining('circuit_breaking_exception')));
    await server.stop();
    server = await start();
    expect(await isReady()).toBe(200);
    expect(await keysOf('filters[key][$eq]=light')).toEqual(['light']);
    isRefused = false;
    await runVarve(['parked', 'retry', '--all', '--data', data]);
    await expect.poll(() => keysOf('filters[key][$eq]=heavy'), { timeout: 60_000 }).toEqual(['heavy']);
  }, 240_000);

  it('answers 202 with the reason, and never with an earlier state', async () => {
    const created = await send('POST', 'restaurants', { key: 'changing', name: 'First' });
    expect(created.status).toBe(201);
    const documentId = documentIdOf(created);
    proxy.intercept(({ path, body }) => {
      if (!path.startsWith('/_bulk') || !body.includes('"name":"Second"')) return undefined;
      const error = { type: 'circuit_breaking_exception', reason: '[parent] Data too large' };
      return { status: 429, json: { error, status: 429 } };
    });
    const refused = { data: { documentId }, meta: { reason: REFUSED } };
    const change = await send('PUT', `restaurants/${documentId}`, { name: 'Second' });
    expect([change.status, JSON.parse(change.text)]).toMatchObject([202, refused]);
    const same = await send('PUT', `restaurants/${documentId}`, { name: 'Second' });
    expect([same.status, JSON.parse(same.text)]).toMatchObject([202, refused]);
    const post = await send('POST', 'restaurants', { key: 'never', name: 'Second' });
    expect([post.status, JSON.parse(post.text)]).toMatchObject([202, { meta: { reason: REFUSED } }]);
    const accepted = await send('PUT', `restaurants/${documentId}`, { name: 'Third' });
    expect([accepted.status, accepted.text]).toEqual([200, expect.stringContaining('"Third"')]);
    expect((await send('DELETE', `restaurants/${documentIdOf(post)}`)).status).toBe(204);
    expect(await parked()).toEqual([]);
  }, 300_000);

  it('is none that has more than ten thousand components and links', async () => {
    proxy.intercept(() => undefined);
    const hours = Array.from({ length: 10_500 }, (_, n) => ({ day: 'mon', note: `note ${n}` }));
    const { status, text } = await send('POST', 'restaurants', { key: 'many', name: 'Many', hours });
    // 202: a busy machine takes longer than ten seconds.
    expect([201, 202], text.slice(0, 500)).toContain(status);
    const found = () => keysOf('filters[hours][note][$eq]=note 10499');
    await expect.poll(found, { timeout: 60_000 }).toEqual(['many']);
    expect(await parked()).toEqual([]);
  }, 240_000);

  it('an operator reads why a document was refused, and retries it', {
    ...longInBrowser('parked documents in the console'),
    timeout: 300_000,
  }, async () => {
    let isRefused = true;
    proxy.intercept(({ path, body }) => {
      const isBulk = path.startsWith('/_bulk') && body.includes('"key":"parked"');
      return isRefused && isBulk ? wrongValue(body, '"key":"parked"') : undefined;
    });
    const shown = await openConsole(server.url);
    try {
      const documentId = documentIdOf(await send('POST', 'restaurants', { key: 'parked', name: 'Parked' }));
      await shown.show('#/overview', '.warning');
      const warning = shown.page.locator('.warning', { hasText: 'documents-parked' });
      await warning.getByRole('link', { name: 'Open Projections' }).click();
      const card = shown.card('Parked documents');
      const row = card.locator('.parked tbody tr', { hasText: documentId });
      // The draft and the published row.
      await row.nth(1).waitFor();
      expect(await row.first().textContent()).toContain('failed to parse field');
      await row.first().locator('summary').click();
      expect(JSON.parse((await row.first().locator('pre').textContent()) ?? '')).toMatchObject({
        documentId,
      });
      expect(await row.first().locator('a').getAttribute('href')).toBe(`#/content/restaurants/${documentId}`);
      expect(await shown.problems()).toEqual([]);
      isRefused = false;
      await card.getByRole('button', { name: 'Retry all 2' }).click();
      await card
        .locator('[role=status]', { hasText: `${documentId} written; ${documentId} written` })
        .waitFor();
      await card.locator('p.empty').waitFor();
      await expect.poll(() => keysOf('filters[key][$eq]=parked'), { timeout: 60_000 }).toEqual(['parked']);
      expect(await shown.problems()).toEqual([]);
    } finally {
      await shown.close();
    }
  });

  it('an operator drops a refused document from the list, by its name', {
    ...longInBrowser('dropped documents in the console'),
    timeout: 300_000,
  }, async () => {
    proxy.intercept(({ path, body }) => {
      const isBulk = path.startsWith('/_bulk') && body.includes('"key":"dropped"');
      return isBulk ? wrongValue(body, '"key":"dropped"') : undefined;
    });
    const shown = await openConsole(server.url);
    try {
      const documentId = documentIdOf(await send('POST', 'restaurants', { key: 'dropped' }));
      await shown.show('#/projections', '.parked tbody tr:nth-child(2)');
      const card = shown.card('Parked documents');
      await card
        .getByRole('button', { name: `Drop ${documentId}` })
        .first()
        .click();
      await shown.confirm(documentId);
      await card.locator('.parked tbody tr:nth-child(2)').waitFor({ state: 'detached' });
      expect(await parked()).toMatchObject([{ documentId }]);
      await card.getByRole('button', { name: 'Drop the document' }).click();
      await shown.confirm('drop');
      await card.locator('p.empty').waitFor();
      expect(await parked()).toEqual([]);
      expect((await send('GET', `restaurants/${documentId}`)).status).toBe(404);
      expect(await shown.problems()).toEqual([]);
    } finally {
      proxy.intercept(() => undefined);
      await shown.close();
    }
  });
});
