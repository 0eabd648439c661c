import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
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
import { childrenOf, workersOf } from '../support/processes.ts';
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

/** Pause of the writer between two requests. */
const WRITE_PAUSE_MS = 50;

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
    const wrote: number[] = [];
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
      wrote.push((await postCook(started.url, { name: `Cyd ${wrote.length}` })).status);
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
    // The last write may have waited for the new content types, which have no such attribute.
    const shown = wrote.at(-1) === 400 ? wrote.slice(0, -1) : wrote;
    expect({ shown, count: shown.length > 0 }).toEqual({ shown: shown.map(() => 201), count: true });
    const late = await get(
      `${started.url}/api/cooks?filters[fullName][$startsWith]=Cyd&pagination[pageSize]=1`,
    );
    expect(late.body['meta']).toMatchObject({ pagination: { total: shown.length } });
    expect((await postCook(started.url, { fullName: 'Dan' })).status).toBe(201);
    await expect.poll(async () => (await get(`${started.url}/health/ready`)).body['note']).toBeUndefined();
    const { body } = await get(
      `${started.url}/api/cooks?filters[fullName][$in]=Ada&filters[fullName][$in]=Dan&sort=id`,
    );
    expect(body.data.map((cook) => cook['fullName'])).toEqual(['Ada', 'Dan']);
    expect((await runVarve(['rollback', ...own()])).stderr).toContain(
      'have other content types than those in force',
    );
  }, 300_000);

  /** Names of the indices of this namespace. */
  async function indicesNow(): Promise<readonly string[]> {
    const found = await fetch(`${url}/_cat/indices/${space}-*?h=index&format=json`);
    return ((await found.json()) as { index: string }[]).map(({ index }) => index).sort();
  }

  /** Starts with changed content types. Resolves when the builder has created the first index, with the processes. */
  async function startFilling() {
    expect(await stop('SIGTERM')).toBe(0);
    const before = await indicesNow();
    const name = `extra${definitions()}`;
    changeCooks(contentTypes, (attributes) => ({ ...attributes, [name]: { type: 'integer' } }));
    const started = await start();
    onTestFailed(() => void stop('SIGKILL'));
    const hasNew = async () => (await indicesNow()).length > before.length;
    await expect
      .poll(hasNew, { timeout: 60_000, interval: 10, message: 'an index of the builder' })
      .toBe(true);
    const [leader = 0] = workersOf(started.varve.child.pid ?? 0);
    const [builder = 0] = childrenOf(leader);
    const isNew = async () => name in ((await get(`${started.url}/api/cooks`)).body.data[0] ?? {});
    return { started, before, leader, builder, name, isNew };
  }

  it.each(['the leader', 'the leader and the builder'])(
    'are served, even after a pause of %s while the new indices are filled',
    async (who) => {
      const { started, before, leader, builder, isNew } = await startFilling();
      const paused = who === 'the leader' ? [leader] : [leader, builder];
      expect(paused).not.toContain(0);
      for (const pid of paused) process.kill(pid, 'SIGSTOP');
      const waiting = postCook(started.url, { fullName: `Fay ${who}` });
      await delay(3 * LEADER_TIMEOUTS.silence);
      for (const pid of paused) process.kill(pid, 'SIGCONT');
      expect([201, 202]).toContain((await waiting).status);
      await expect.poll(isNew, { timeout: 60_000 }).toBe(true);
      expect(started.varve.output()).not.toContain('another process became the leader');
      const fays = `${started.url}/api/cooks?filters[fullName]=Fay ${who}`;
      await expect.poll(async () => (await get(fays)).body.data, { timeout: 60_000 }).toHaveLength(1);
      await expect
        .poll(async () => (await indicesNow()).length, { timeout: 60_000, message: 'removed indices' })
        .toBe(before.length);
    },
    300_000,
  );

  it('are not made after a cancel while the new indices are filled, until the next start', async () => {
    const { started, before, leader, builder, name, isNew } = await startFilling();
    expect(builder).toBeGreaterThan(0);
    process.kill(builder, 'SIGSTOP');
    const cancelled = await runVarve(['rebuild', '--cancel', ...own()]);
    expect(cancelled, cancelled.stderr).toMatchObject({ code: 0 });
    process.kill(builder, 'SIGCONT');
    await expect.poll(indicesNow, { timeout: 60_000 }).toEqual(before);
    await expect
      .poll(() => childrenOf(leader), { timeout: 60_000, message: 'the end of the builder' })
      .toEqual([]);
    const answer = await postCook(started.url, { fullName: 'Gus' });
    expect([answer.status, await isNew()]).toEqual([201, false]);
    expect(await stop('SIGTERM')).toBe(0);
    const again = await start();
    const gus = async () => (await get(`${again.url}/api/cooks?filters[fullName]=Gus`)).body.data[0] ?? {};
    await expect.poll(async () => Object.keys(await gus()), { timeout: 60_000 }).toContain(name);
    await expect.poll(async () => (await indicesNow()).length, { timeout: 60_000 }).toBe(before.length);
  }, 300_000);

  it('do not change answers after a kill, and are served later', async () => {
    expect(await stop('SIGTERM')).toBe(0);
    changeCooks(contentTypes, (attributes) => ({ ...attributes, age: { type: 'integer' } }));
    const killed = await start();
    await expect
      .poll(() => killed.varve.output(), { timeout: 60_000 })
      .toContain('api::cook.cook: age was added');
    await stop('SIGKILL');
    const started = await start();
    const versionOf = (cook: Record<string, unknown>) => ('age' in cook ? 'new' : 'old');
    const { seen } = await watchChange(started, versionOf, () => {});
    expect(seen.at(-1)).toBe('new');
    await expect
      .poll(async () => (await postCook(started.url, { fullName: 'Eve', age: 7 })).status, {
        timeout: 300_000,
      })
      .toBe(201);
    const { body } = await get(`${started.url}/api/cooks?filters[age][$gt]=6`);
    expect(body.data.map((cook) => cook['fullName'])).toEqual(['Eve']);
    expect(await stop('SIGTERM')).toBe(0);
    expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
  }, 300_000);

  /** Counts the definitions of content types in the log. */
  function definitions(): number {
    const log = new DatabaseSync(join(data, 'events.db'), { readOnly: true, timeout: 5_000 });
    try {
      const sql = "SELECT count(*) AS count FROM event WHERE type = 'content-type-defined'";
      return Number(log.prepare(sql).get()?.['count']);
    } finally {
      log.close();
    }
  }

  it.each([
    ['the builder', 'fills the indices'],
    ['the next worker', 'defines the content types'],
    ['the whole server', 'defines the content types'],
  ])(
    'lose no write and become right if %s is killed while it %s',
    async (victim, phase) => {
      const name = `extra${definitions()}`;
      changeCooks(contentTypes, (attributes) => ({ ...attributes, [name]: { type: 'integer' } }));
      const before = definitions();
      const started = await start();
      const wrote: string[] = [];
      let hasKilled = false;
      const kill = () => {
        const [first = 0, next = 0] = workersOf(started.varve.child.pid ?? 0);
        const [builder = 0] = childrenOf(first);
        const pid = victim === 'the builder' ? builder : next;
        const isDue = phase === 'fills the indices' ? builder > 0 : definitions() > before;
        if (!isDue || hasKilled || pid === 0 || wrote.length === 0) return;
        if (victim === 'the whole server') started.varve.child.kill('SIGKILL');
        else process.kill(pid, 'SIGKILL');
        hasKilled = true;
      };
      const look = () => {
        try {
          kill();
        } catch (error) {
          // The process has just ended, or the log is locked: the next look finds out.
          if (!/ESRCH|locked/.test((error as Error).message)) throw error;
        }
      };
      const watch = setInterval(look, 5);
      onTestFinished(() => clearInterval(watch));
      onTestFailed(() => void stop('SIGKILL'));
      const hasNew = async () => {
        const { status, body } = await get(`${started.url}/api/cooks?sort=id`);
        if (status === 200) return name in (body.data[0] ?? {});
        if (victim !== 'the whole server') throw new Error(`a read was answered ${status}`);
        return started.varve.child.signalCode !== null;
      };
      while ((await get(`${started.url}/api/cooks`)).status !== 200) await delay(50);
      while (!(await hasNew())) {
        const fullName = `${name} ${wrote.length}`;
        const sent = await postCook(started.url, { fullName }).catch(() => undefined);
        if (sent?.status === 201) wrote.push(fullName);
        // The builder has a low priority, and would hardly run on two busy cores while writes come without a pause.
        await delay(WRITE_PAUSE_MS);
      }
      clearInterval(watch);
      expect({ hasKilled, wrote: wrote.length > 0 }).toEqual({ hasKilled: true, wrote: true });
      const { url: last } = victim === 'the whole server' ? await start() : started;
      await expect
        .poll(async () => name in ((await get(`${last}/api/cooks`)).body.data[0] ?? {}), { timeout: 60_000 })
        .toBe(true);
      const shown = new Set<unknown>();
      for (let start = 0, size = -1; shown.size > size; start += 100) {
        size = shown.size;
        const page = `pagination[start]=${start}&pagination[limit]=100&sort=id&fields=fullName`;
        const { body } = await get(`${last}/api/cooks?filters[fullName][$startsWith]=${name}&${page}`);
        for (const cook of body.data) shown.add(cook['fullName']);
      }
      expect(wrote.filter((each) => !shown.has(each))).toEqual([]);
      await expect
        .poll(async () => (await postCook(last, { fullName: 'Last', [name]: 1 })).status, { timeout: 60_000 })
        .toBe(201);
      expect(await stop('SIGTERM')).toBe(0);
      expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
    },
    300_000,
  );
});
