import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { startHandOverLoad } from '../support/hand-over-load.ts';
import { childrenOf, isRunning } from '../support/processes.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, spawnVarve, startServer, type VarveProcess } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A worker is replaced by another one whose documents are in other indices; a `varve api` process reads them too. */
const space = `hand_over_${process.pid}`;
const CLIENTS = 2;
const skip = takesMinutes('hand-overs on Elasticsearch');

describe('hand-overs on Elasticsearch', { ...(await needsElasticsearch(skip)), timeout: 180_000 }, () => {
  let url: string;
  let server: RunningServer;
  let api: RunningServer;

  beforeAll(async () => {
    url = await elasticsearchUrl();
    const shared = ['--read-index', url, '--space', space];
    server = await startServer({ arguments: shared });
    const { data } = server;
    const where = ['--event-store', `sqlite:${join(data, 'events.db')}`, '--assets', join(data, 'assets')];
    api = await startServer({ role: 'api', arguments: [...shared, ...where] });
  }, 180_000);
  afterAll(async () => {
    await api?.dispose();
    await server?.dispose();
    if (url !== undefined) await removeIndices(url, space);
  });

  const own = () => ['--data', server.data, '--read-index', url, '--space', space];
  const varve = (...args: string[]) => runVarve([...args, ...own()]);
  const rebuild = (): VarveProcess => spawnVarve(['rebuild', ...own()]);
  const workers = () => childrenOf(server.supervisor);
  const nextWorker = async (): Promise<number> => {
    for (;;) {
      const [, next] = workers();
      if (next !== undefined) return next;
      await delay(2);
    }
  };
  const replaced = async (before: number): Promise<void> => {
    while (workers().includes(before) || workers().length !== 1) await delay(5);
  };
  /** Of a write and reads after it, from either process. */
  const failuresWhile = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const load = startHandOverLoad(server.url, CLIENTS, [server.url, api.url]);
    await work();
    await load.stop();
    expect(load.written.length).toBeGreaterThan(0);
    return load.failures.slice(0, 5);
  };
  const expectEqual = async () => expect(await varve('verify')).toMatchObject({ code: 0 });

  it('lose no write and show each in every process, in a rebuild and a rollback', async () => {
    const failures = await failuresWhile(async () => {
      for (const [command, number] of [
        ['rebuild', 2],
        ['rollback', 1],
        ['rollback', 2],
      ] as const) {
        const [before = 0] = workers();
        const { code, stdout, stderr } = await varve(command);
        expect({ code, stdout, stderr }).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(`generation ${number} is live`),
        });
        await replaced(before);
      }
    });
    expect(failures).toEqual([]);
    await expectEqual();
  });

  it('change nothing when the next worker is killed while it gets ready', async () => {
    const [first = 0] = workers();
    const failures = await failuresWhile(async () => {
      const running = rebuild();
      process.kill(await nextWorker(), 'SIGKILL');
      expect((await running.exited).output).toContain('is not served');
    });
    expect(failures).toEqual([]);
    expect(workers()).toEqual([first]);
    expect((await rebuild().exited).output).toContain('is live');
    await replaced(first);
    await expectEqual();
  });

  it('replace a worker that is paused, or killed', async () => {
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      const [first = 0] = workers();
      const running = rebuild();
      await nextWorker();
      process.kill(first, signal);
      await replaced(first);
      await running.exited;
      expect(isRunning(first)).toBe(false);
      expect(await failuresWhile(() => delay(500))).toEqual([]);
      await expectEqual();
    }
  });

  it('are known to the next start when both workers are lost', async () => {
    const [first = 0] = workers();
    const running = rebuild();
    const next = await nextWorker();
    process.kill(first, 'SIGSTOP');
    while (workers().includes(first)) await delay(2);
    process.kill(next, 'SIGKILL');
    while (workers().includes(next) || workers().length === 0) await delay(5);
    await running.exited;
    expect(await failuresWhile(() => delay(500))).toEqual([]);
    await expectEqual();
    expect(await server.stop()).toMatchObject({ code: 0, signal: null });
  });
});
