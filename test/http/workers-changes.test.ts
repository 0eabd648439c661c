import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { callOperator } from '../../services/operator/call-operator.ts';
import { readDirectoryHolder } from '../../shared/sqlite/lock-data-directory.ts';
import { ask } from '../support/hand-over-load.ts';
import { isRunning } from '../support/processes.ts';
import { createTypes, renameAttribute } from '../support/renamed-attribute.ts';
import { names, workers } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  startServer,
} from '../support/server.ts';
import { expectNoFailures, inRotation, pids, startWorkers, stopPairs } from '../support/several-workers.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startWorkerPairs } from '../support/worker-pairs.ts';

/** Changes of a whole server with several workers. */
const LONG = {
  ...takesMinutes('a server with several workers that is changed under load'),
  timeout: 300_000,
};
const CLIENTS = 4;
const PAUSE_MS = 5;
const ROWS = 500;

/** Returns the statuses of answers on several connections, which reach all workers. */
async function statuses(url: string): Promise<readonly number[]> {
  return Promise.all([1, 2, 3, 4].map(async () => (await ask(url, false)).status));
}

/** Expects that both workers were replaced, and that no third one is left. */
async function expectReplaced(server: RunningServer, before: ReturnType<typeof pids>): Promise<void> {
  await inRotation(server, 2);
  while (workers(server).length > 2) await delay(5);
  const { leading, reading } = pids(server);
  expect(new Set(workers(server))).toEqual(new Set([leading, reading]));
  expect([before.leading, before.reading]).not.toContain(leading);
  expect([before.leading, before.reading]).not.toContain(reading);
}

it('replaces all workers on SIGHUP, and no request fails', LONG, async () => {
  const server = await startWorkers();
  const pairs = startWorkerPairs(server.url, CLIENTS, PAUSE_MS);
  await pairs.reached(100);
  const before = pids(server);
  process.kill(server.supervisor, 'SIGHUP');
  await expectReplaced(server, before);
  await pairs.reached(pairs.written.length + 100);
  await stopPairs(server, pairs);
  expectNoFailures(server, pairs);
});

it('ends with 0 on SIGTERM under load, and the next start has every acknowledged write', LONG, async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = await startWorkers([], { data });
  const pairs = startWorkerPairs(server.url, CLIENTS);
  await pairs.reached(200);
  const stopping = server.stop();
  expect(await stopping).toMatchObject({ code: 0, signal: null });
  await pairs.stop();
  expect(pairs.stale).toEqual([]);
  // Connections may end, but no request is refused.
  expect(pairs.failures.filter((failure) => !/: 0 /.test(failure))).toEqual([]);
  const again = await startServer({ data });
  onTestFinished(() => again.dispose());
  const found = (await names(again.url)).length;
  expect(found).toBeGreaterThanOrEqual(pairs.written.length);
  for (const id of pairs.written.slice(-50))
    expect((await ask(`${again.url}/api/restaurants/${id}?fields=name`, false)).status).toBe(200);
});

it('shows an import in every worker when the command has ended', LONG, async () => {
  const server = await startWorkers();
  const pairs = startWorkerPairs(server.url, CLIENTS, PAUSE_MS);
  await pairs.reached(50);
  for (let round = 0; round < 3; round++) {
    const file = join(server.data, `rows-${round}.jsonl`);
    const row = (_unused: unknown, n: number) => {
      const key = `import ${round} row ${n}`;
      return JSON.stringify({ type: 'restaurant', key, state: 'published', data: { key, name: key } });
    };
    writeFileSync(file, Array.from({ length: ROWS }, row).join('\n'));
    const imported = await runVarve([
      ...['import', file, '--content-types', CONFORMANCE_SCHEMA, '--data', server.data],
    ]);
    expect(imported).toMatchObject({ code: 0 });
    const filter = `filters[name][$startsWith]=${encodeURIComponent(`import ${round} row`)}&fields=name`;
    const totals = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const { text } = await ask(`${server.url}/api/restaurants?${filter}`, false);
        return (JSON.parse(text) as { meta: { pagination: { total: number } } }).meta.pagination.total;
      }),
    );
    expect(totals).toEqual([ROWS, ROWS, ROWS, ROWS]);
  }
  await stopPairs(server, pairs);
  expectNoFailures(server, pairs);
});

it('ends an import when every worker answers reads with it', LONG, async () => {
  const server = await startWorkers();
  const { reading } = pids(server);
  const file = join(server.data, 'row.jsonl');
  const [key, name] = ['row', 'row'];
  writeFileSync(file, JSON.stringify({ type: 'restaurant', key, state: 'published', data: { key, name } }));
  process.kill(reading, 'SIGSTOP');
  const { channel } = readDirectoryHolder(server.data) ?? {};
  if (channel === undefined) throw new Error('the server accepts no requests of operators');
  const lines = await Array.fromAsync(callOperator(channel, 'import', { files: [file] }));
  expect(lines.length).toBeGreaterThan(0);
  expect(isRunning(reading)).toBe(false);
});

it(
  'restarts a reading worker with the content types in force after the folder has changed',
  LONG,
  async () => {
    const contentTypes = createTypes();
    const server = await startWorkers([], { contentTypes });
    const body = { data: { key: 'a', name: 'a', stars: 3 } };
    expect((await ask(`${server.url}/api/restaurants`, false, body)).status).toBe(201);
    renameAttribute(contentTypes, 'stars', 'score');
    process.kill(pids(server).reading, 'SIGKILL');
    await inRotation(server, 2);
    expect(await statuses(`${server.url}/api/restaurants?filters[stars]=3`)).toEqual([200, 200, 200, 200]);
    expect(await statuses(`${server.url}/api/restaurants?filters[score]=3`)).toEqual([400, 400, 400, 400]);
  },
);

it.each([
  ['before it answers', []],
  ['in another worker', ['--convert-at-once', '0']],
])('serves changed content types in every worker when they are converted %s', LONG, async (_when, args) => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const contentTypes = createTypes();
  const first = await startServer({ data, contentTypes });
  onTestFinished(() => first.dispose());
  for (const name of ['a', 'b', 'c'])
    expect(
      (await ask(`${first.url}/api/restaurants`, false, { data: { key: name, name, stars: 3 } })).status,
    ).toBe(201);
  expect(await first.stop()).toMatchObject({ code: 0 });
  renameAttribute(contentTypes, 'stars', 'score');
  const server = await startWorkers(args, { data, contentTypes });
  const pairs = startWorkerPairs(server.url, CLIENTS, PAUSE_MS);
  await pairs.reached(100);
  expect(await statuses(`${server.url}/api/restaurants?filters[score]=3`)).toEqual([200, 200, 200, 200]);
  await stopPairs(server, pairs);
  expectNoFailures(server, pairs);
  expect(await server.stop()).toMatchObject({ code: 0, signal: null });
});
