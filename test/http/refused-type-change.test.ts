import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeCooks, get, postCook, startChanged } from '../support/changed-kitchen.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type VarveProcess } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Changes of content types while Elasticsearch refuses a document, or while the new indices cannot be made right. */
const TITLE = 'changed content types and documents that Elasticsearch refuses';
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
const space = `refused_types_${process.pid}`;
let elasticsearch: string;
let proxy: ElasticsearchProxy;
let server: { readonly varve: VarveProcess; readonly url: string } | undefined;

const own = () => ['--data', data, '--read-index', proxy.url, '--space', space];
const varve = (...args: string[]) => runVarve([...args, ...own()]);

async function start(): Promise<void> {
  server = await startChanged(contentTypes, own());
}

async function stop(): Promise<void> {
  server?.varve.child.kill('SIGTERM');
  await server?.varve.exited;
  server = undefined;
}

const urlOf = () => server?.url ?? expect.unreachable();
const output = () => server?.varve.output() ?? '';

/** Waits until a new cook is stored and shown. */
async function writesAreAccepted(name: string): Promise<void> {
  for (const deadline = Date.now() + 240_000; ; await delay(500)) {
    const status = await postCook(urlOf(), { name }).then(
      (answer) => answer.status,
      () => 'no answer',
    );
    if (status === 201) return;
    if (Date.now() > deadline) throw new Error(`a write is still answered ${status}: ${output()}`);
  }
}

/** Waits until answers have a new attribute. */
async function becomesServed(attribute: string): Promise<void> {
  const has = async () => attribute in ((await get(`${urlOf()}/api/cooks`)).body.data[0] ?? {});
  await expect.poll(has, { timeout: 240_000, interval: 500 }).toBe(true);
}

const FAILED = 'the change of the content types failed: trying again';

const parked = async () =>
  JSON.parse((await varve('parked', 'list', '--json')).stdout) as { documentId: string }[];

/** Adds an attribute, so that all documents have to be made again. */
const addAttribute = (name: string) =>
  changeCooks(contentTypes, (attributes) => ({ ...attributes, [name]: { type: 'integer' } }));
const removeAttribute = (name: string) =>
  changeCooks(contentTypes, ({ [name]: _, ...attributes }) => attributes);

const REFUSAL = {
  status: 429,
  json: { error: { type: 'circuit_breaking_exception', reason: '[parent] Data too large' }, status: 429 },
};

/** Refuses each request to write a document with this text. */
function refuseDocuments(text: string): void {
  proxy.intercept(({ path, body }) =>
    path.startsWith('/_bulk') && body.includes(text) ? REFUSAL : undefined,
  );
}

/** Loses each document with this text: says that it is written, and writes only the others. */
function loseDocuments(text: string): void {
  proxy.intercept(async ({ path, body }) => {
    if (!path.startsWith('/_bulk') || !body.includes(text)) return undefined;
    const documents = body.split(/^(?=\{"(?:index|delete)":)/m);
    const kept = documents.filter((document) => !document.includes(text));
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer =
      kept.length === 0
        ? { items: [] }
        : await (
            await fetch(`${elasticsearch}${path}`, { method: 'POST', headers, body: kept.join('') })
          ).json();
    const items = [...(answer as { items: object[] }).items];
    const written = { index: { status: 201 } };
    return {
      status: 200,
      json: {
        errors: false,
        items: documents.map((each) => (each.includes(text) ? written : items.shift())),
      },
    };
  });
}

describe(TITLE, await needsElasticsearch(takesMinutes(TITLE)), () => {
  beforeAll(async () => {
    elasticsearch = await elasticsearchUrl();
    proxy = await startElasticsearchProxy(elasticsearch);
    refuseDocuments('Heavy');
    await start();
    await writesAreAccepted('Ada');
    expect((await postCook(urlOf(), { name: 'Heavy' })).status).toBe(202);
    await vi.waitFor(async () => expect(await parked()).toHaveLength(2), { timeout: 120_000, interval: 200 });
    await stop();
  }, 900_000);
  afterEach(() => stop());
  afterAll(async () => {
    await stop();
    proxy?.close();
    await removeIndices(elasticsearch, space);
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });

  it('take effect if a document was parked before, which stays parked', async () => {
    addAttribute('rank');
    await start();
    await becomesServed('rank');
    await writesAreAccepted('Bob');
    expect((await get(`${urlOf()}/api/cooks?filters[name][$eq]=Bob`)).body.data).toMatchObject([
      { rank: null },
    ]);
    await expect.poll(parked).toHaveLength(2);
  }, 900_000);

  it('take effect if only the new indices refuse a document, which is parked', async () => {
    refuseDocuments('Ada');
    addAttribute('age');
    await start();
    await becomesServed('age');
    await writesAreAccepted('Cyd');
    await expect.poll(parked).toHaveLength(2);
    refuseDocuments('Heavy');
    await varve('parked', 'retry', '--all');
    await expect.poll(parked).toEqual([]);
    const ada = await get(`${urlOf()}/api/cooks?filters[name][$eq]=Ada`);
    expect(ada.body.data).toMatchObject([{ age: null }]);
  }, 900_000);

  it('are tried again while the new indices are wrong: writes are accepted, and the state says why', async () => {
    loseDocuments('Ada');
    addAttribute('size');
    await start();
    await expect.poll(output, { timeout: 240_000 }).toContain(FAILED);
    await writesAreAccepted('Dan');
    const message = expect.stringMatching(
      /^the change of content types has stopped: \d+ differences at position \d+$/,
    );
    // A look may be from before the attempt had failed.
    const state = async () => (await get(`${urlOf()}/_varve/state`)).body['data'];
    await expect.poll(state, { timeout: 30_000 }).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ code: 'types-change-stopped', severity: 'degraded', message }),
      ]),
    });
    expect(await get(`${urlOf()}/health/ready`)).toMatchObject({ status: 200 });
    proxy.intercept(() => undefined);
    await becomesServed('size');
    await writesAreAccepted('Eli');
  }, 900_000);

  it('are given up by a start with the earlier folder', async () => {
    loseDocuments('Ada');
    addAttribute('width');
    await start();
    await expect.poll(output, { timeout: 240_000 }).toContain(FAILED);
    await stop();
    removeAttribute('width');
    await start();
    await writesAreAccepted('Eve');
    expect((await get(`${urlOf()}/api/cooks?filters[name][$eq]=Eve`)).body.data).not.toEqual([]);
  }, 900_000);
});
