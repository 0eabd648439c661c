import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEADER_TIMEOUTS } from '../../services/fleet/watch-leader.ts';
import {
  CHANGE_NOTE,
  changeCooks,
  get,
  postCook,
  renameCooks,
  startChanged,
  watchChange,
} from '../support/changed-kitchen.ts';
import { foundSums, indexDigests, rebuiltSums } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { workersOf } from '../support/processes.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  createDataDirectory,
  type RunningServer,
  startServer,
  type VarveProcess,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A start with changed content types and more documents in Elasticsearch than a start makes before it serves. */
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
const space = `schema_${process.pid}`;
let url: string;
let server: RunningServer | undefined;
/** An api process that keeps the earlier content types until it ends. */
let api: RunningServer | undefined;
let changed: VarveProcess | undefined;

const own = () => ['--data', data, '--read-index', url, '--space', space];
const start = async () => {
  const started = await startChanged(contentTypes, own());
  changed = started.varve;
  return started;
};
async function stop(signal: NodeJS.Signals): Promise<number | null> {
  const varve = changed;
  changed = undefined;
  varve?.child.kill(signal);
  return (await varve?.exited)?.code ?? null;
}

const skip = takesMinutes('changed content types on Elasticsearch');

describe('changed content types on Elasticsearch', await needsElasticsearch(skip), () => {
  beforeAll(async () => {
    url = await elasticsearchUrl();
    server = await startServer({
      contentTypes,
      data,
      arguments: ['--read-index', url, '--space', space],
    });
    for (const name of ['Ada', 'Bob']) expect((await postCook(server.url, { name })).status).toBe(201);
    const where = ['--event-store', `sqlite:${join(data, 'events.db')}`, '--assets', join(data, 'assets')];
    api = await startServer({
      ...{ role: 'api', contentTypes },
      arguments: ['--read-index', url, '--space', space, ...where],
    });
    expect((await server.stop()).code).toBe(0);
  }, 180_000);
  afterAll(async () => {
    await stop('SIGKILL');
    await api?.dispose();
    await server?.dispose();
    if (url !== undefined) await removeIndices(url, space);
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });

  it('do not change answers until indices of the new types exist', async () => {
    renameCooks(contentTypes);
    const started = await start();
    let wrote: Promise<Response> | undefined;
    const versionOf = (cook: Record<string, unknown>) => ('fullName' in cook ? 'new' : 'old');
    let ofApi = 0;
    const askApi = async () => {
      const { status, body } = await get(`${api?.url}/api/cooks?filters[name][$contains]=A`);
      // Status 0: the process has ended.
      if (status === 0) return false;
      expect({ status, names: body.data.map((cook) => cook['name']) }).toEqual({
        status: 200,
        names: ['Ada'],
      });
      ofApi++;
      return true;
    };
    const { seen, notes } = await watchChange(started, versionOf, async () => {
      await askApi();
      wrote ??= postCook(started.url, { fullName: 'Cyd' });
      const found = await get(`${started.url}/api/cooks?filters[name][$contains]=A`);
      if (found.status !== 400) expect(found.body.data.map((cook) => cook['name'])).toEqual(['Ada']);
    });
    expect(seen).toEqual(['old', 'new']);
    expect(ofApi).toBeGreaterThan(0);
    while (await askApi());
    const ended = await api?.exited;
    expect(ended?.code).toBe(1);
    expect(ended?.output).toContain('reads are answered as before until the new read model is live');
    expect(ended?.output).toContain('changed the content types (api::cook.cook)');
    expect(notes).toContain(CHANGE_NOTE);
    expect(started.varve.output()).toContain('api::cook.cook: name was removed or renamed');
    expect([201, 503]).toContain((await wrote)?.status);
    await expect
      .poll(async () => (await postCook(started.url, { fullName: 'Dan' })).status, { timeout: 30_000 })
      .toBe(201);
    expect((await get(`${started.url}/health/ready`)).body['note']).toBeUndefined();
    const { body } = await get(
      `${started.url}/api/cooks?filters[fullName][$in]=Ada&filters[fullName][$in]=Dan&sort=id`,
    );
    expect(body.data.map((cook) => cook['fullName'])).toEqual(['Ada', 'Dan']);
    expect((await runVarve(['rollback', ...own()])).stderr).toContain(
      'have other content types than those in force',
    );
  }, 120_000);

  it('are served, even if the process of the earlier types is paused while the next one gets ready', async () => {
    expect(await stop('SIGTERM')).toBe(0);
    changeCooks(contentTypes, (attributes) => ({ ...attributes, rank: { type: 'integer' } }));
    const started = await start();
    const supervisor = started.varve.child.pid ?? 0;
    const versionOf = (cook: Record<string, unknown>) => ('rank' in cook ? 'new' : 'old');
    let isPaused = false;
    const { seen } = await watchChange(started, versionOf, async () => {
      const [first = 0, next] = workersOf(supervisor);
      if (next === undefined || isPaused) return;
      isPaused = true;
      process.kill(first, 'SIGSTOP');
      await delay(3 * LEADER_TIMEOUTS.silence);
      process.kill(first, 'SIGCONT');
    });
    expect({ seen, isPaused }).toEqual({ seen: ['old', 'new'], isPaused: true });
    expect(started.varve.output()).not.toContain('another process became the leader');
    await expect
      .poll(async () => (await postCook(started.url, { fullName: 'Fay', rank: 1 })).status, {
        timeout: 30_000,
      })
      .toBe(201);
  }, 120_000);

  it('do not change answers after a kill, and are served later', async () => {
    expect(await stop('SIGTERM')).toBe(0);
    changeCooks(contentTypes, (attributes) => ({ ...attributes, age: { type: 'integer' } }));
    const killed = await start();
    await expect
      .poll(() => killed.varve.output(), { timeout: 30_000 })
      .toContain('api::cook.cook: age was added');
    await stop('SIGKILL');
    const started = await start();
    const versionOf = (cook: Record<string, unknown>) => ('age' in cook ? 'new' : 'old');
    const { seen } = await watchChange(started, versionOf, () => {});
    expect(seen.at(-1)).toBe('new');
    await expect
      .poll(async () => (await postCook(started.url, { fullName: 'Eve', age: 7 })).status, {
        timeout: 30_000,
      })
      .toBe(201);
    const { body } = await get(`${started.url}/api/cooks?filters[age][$gt]=6`);
    expect(body.data.map((cook) => cook['fullName'])).toEqual(['Eve']);
    expect(await stop('SIGTERM')).toBe(0);
    expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
  }, 120_000);
});
