import { readdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '../support/base64.ts';
import { foundSums, indexDigests, rebuiltSums } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Tests `varve rebuild`, `rollback` and `drop` with the documents in Elasticsearch. */
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
const space = `rebuild_${process.pid}`;
let url: string;
let server: RunningServer;

const own = () => ['--data', data, '--read-index', url, '--space', space];
const varve = (...args: string[]) => runVarve([...args, ...own()]);

async function start(): Promise<void> {
  server = await startServer({ contentTypes, data, arguments: ['--read-index', url, '--space', space] });
}

async function create(collection: string, name: string): Promise<void> {
  const answer = await fetch(`${server.url}/api/${collection}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name } }),
  });
  expect(answer.status).toBe(201);
}

async function names(): Promise<readonly string[]> {
  const answer = await fetch(`${server.url}/api/cooks?sort=name`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { name: string }[] }).data.map(({ name }) => name);
}

/** Returns the number of indices of each set, the oldest set first. */
async function sets(): Promise<readonly number[]> {
  const indices = (await (await fetch(`${url}/_cat/indices/${space}-*?format=json`)).json()) as {
    index: string;
  }[];
  const counts = new Map<number, number>();
  for (const { index } of indices) {
    const number = numberOf(index);
    if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([, count]) => count);
}

/** Returns the newest index of published cooks. */
async function newestOfCooks(): Promise<string> {
  const path = `${url}/_cat/indices/${space}-api_cook_cook-published-*?format=json`;
  const indices = (await (await fetch(path)).json()) as { index: string }[];
  const [newest] = indices.sort((a, b) => (numberOf(b.index) ?? 0) - (numberOf(a.index) ?? 0));
  return newest?.index ?? '';
}

function numberOf(index: string): number | undefined {
  const text = /-(\d+)$/.exec(index)?.[1];
  return text === undefined ? undefined : Number(text);
}

const skip = takesMinutes('generations in Elasticsearch');

describe('generations in Elasticsearch', await needsElasticsearch(skip), () => {
  beforeAll(async () => {
    url = await elasticsearchUrl();
    await start();
    await Promise.all(['Ada', 'Bob', 'Cyd'].map((name) => create('cooks', name)));
  }, 180_000);
  afterAll(async () => {
    await server?.dispose();
    if (url !== undefined) await removeIndices(url, space);
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });

  it('a rebuild switches a running server to the new generation, a rollback switches back, a drop leaves one generation', async () => {
    const [perSet = 0] = await sets();
    const rebuilt = await varve('rebuild', '--graph');
    expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining('generation 2 is live') });
    // It may wait for a confirmation of a busy cluster.
    expect(rebuilt.stderr.replaceAll(/^varve rebuild: waiting for Elasticsearch.*\n/gm, '')).toBe('');
    expect(await sets()).toEqual([perSet, perSet]);
    await create('cooks', 'Dee');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dee']);
    expect((await varve('rollback')).stdout).toContain('generation 1 is live');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dee']);
    await create('cooks', 'Eve');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dee', 'Eve']);
    expect((await varve('rollback')).stdout).toContain('generation 2 is live');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dee', 'Eve']);
    await fetch(`${url}/${space}-api_cook_cook-draft-1`, { method: 'DELETE' });
    expect((await varve('rollback')).stderr).toContain('the indices of the generation do not exist');
    expect((await varve('drop')).stdout).toBe('generation 1 is removed\n');
    expect(await sets()).toEqual([perSet]);
    expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
  }, 300_000);

  it('continues after a kill, stops at a document that is not in the log, and leaves nothing when it is cancelled', async () => {
    const before = await sets();
    const killed = spawnVarve(['rebuild', '--graph', '--json', '--max-rate', '50', ...own()]);
    killed.child.stdout?.on('data', () => {
      if (killed.output().includes('"phase":"indexing"')) killed.child.kill('SIGKILL');
    });
    expect((await killed.exited).signal).toBe('SIGKILL');
    // This document's version is higher than any of the log, so no writer replaces it.
    const strange = { key: 999_998, sum: base64('strange'), src: base64('{"name":"Zed"}') };
    const path = `${await newestOfCooks()}/_doc/999998?version=999999999&version_type=external`;
    const put = await fetch(`${url}/${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(strange),
    });
    expect(put.status).toBe(201);
    const stopped = await varve('rebuild', '--graph');
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toMatch(
      /^documents of api::cook\.cook, published: 999998.*\n {2}\+ \{"name":"Zed"\}/,
    );
    expect(stopped.stderr).toMatch(/1 differences at position \d+; the old generation stays live/);
    expect((await names()).includes('Zed')).toBe(false);
    expect((await varve('rebuild', '--cancel')).stdout).toContain('was cancelled');
    expect(await sets()).toEqual(before);
    expect(readdirSync(data).filter((name) => /^graph.*\.db$/.test(name))).toEqual(['graph-2.db']);
  }, 300_000);

  it('makes only the indices of one type and world, and keeps the others', async () => {
    const [perSet = 0] = await sets();
    const rebuilt = await varve('rebuild', '--type', 'cook', '--world', 'published');
    expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
    expect(await sets()).toEqual([perSet, 1]);
    await create('cooks', 'Flo');
    expect((await names()).at(-1)).toBe('Flo');
    expect((await varve('rollback')).stdout).toContain('generation 2 is live');
    await create('cooks', 'Gus');
    expect((await names()).slice(-2)).toEqual(['Flo', 'Gus']);
    expect((await varve('rollback')).stdout).toContain('is live');
    expect((await names()).slice(-2)).toEqual(['Flo', 'Gus']);
    expect((await varve('drop')).code).toBe(0);
    expect(await sets()).toEqual([perSet - 1, 1]);
    expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
    expect((await varve('rebuild')).code).toBe(0);
    expect((await varve('drop')).code).toBe(0);
  }, 300_000);

  it('the same commands work without a server, and a start finds their results', async () => {
    const [perSet] = await sets();
    expect((await server.stop()).code).toBe(0);
    expect((await varve('rebuild')).stdout).toContain('is live');
    expect((await varve('rollback')).stdout).toContain('is live');
    expect(await sets()).toEqual([perSet, perSet]);
    expect((await varve('rollback')).stdout).toContain('is live');
    expect((await varve('drop')).stdout).toMatch(/^generation \d+ is removed\n$/);
    const made = await newestOfCooks();
    await start();
    await create('cooks', 'Fay');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dee', 'Eve', 'Fay', 'Flo', 'Gus']);
    expect([await sets(), await newestOfCooks()]).toEqual([[perSet], made]);
    const withoutIndex = await runVarve(['rebuild', '--data', data, '--space', space]);
    expect(withoutIndex.stderr).toContain("pass the server's --read-index");
  }, 300_000);
});
