import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { COMPATIBILITY } from '../../services/supervisor/protocol.ts';
import { LOG_MIGRATIONS } from '../../shared/event-store/sqlite/log-schema.ts';
import { startHandOverLoad } from '../support/hand-over-load.ts';
import { childrenOf, isRunning } from '../support/processes.ts';
import { create, generation, names, nextWorker, replaced, workers } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, type ServerOptions, spawnVarve, type VarveProcess } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';

/** A worker is replaced by another one, which serves another generation. */
const LONG = { ...takesMinutes('hand-overs that are cut short'), timeout: 240_000 };
const CLIENTS = count(3, 1);

const rebuild = ({ data }: RunningServer, ...options: string[]): VarveProcess =>
  spawnVarve(['rebuild', '--graph', '--data', data, ...options]);

const generationFiles = ({ data }: RunningServer) =>
  readdirSync(data).filter((name) => /^graph(-\d+)?\.db$/.test(name));

async function serverWithDocuments(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startForTest(options);
  for (const name of ['a', 'b', 'c']) expect(await create(server.url, name)).toBe(201);
  return server;
}

it('replaces the serving process in a rebuild and a rollback: no request fails, no write is lost, no read is stale', async () => {
  const server = await serverWithDocuments({ arguments: ['--metrics-port', '0'] });
  const metrics = /Metrics and health are at (\S+)/.exec(server.output())?.[1];
  const [first = 0] = workers(server);
  const load = startHandOverLoad(server.url, CLIENTS);
  expect((await runVarve(['rebuild', '--graph', '--data', server.data])).stdout).toContain(
    'generation 2 is live',
  );
  await replaced(server, first);
  const [second = 0] = workers(server);
  expect(second).not.toBe(first);
  expect(await generation(server)).toBe(2);
  expect((await runVarve(['rollback', '--data', server.data])).stdout).toContain('generation 1 is live');
  await replaced(server, second);
  expect(await generation(server)).toBe(1);
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(load.written.length).toBeGreaterThan(10);
  expect(await names(server.url)).toEqual(['a', 'b', 'c', ...load.written].sort());
  const text = await (await fetch(`${metrics}/metrics`)).text();
  expect(text).toMatch(/^varve_worker_restarts 0$/m);
  expect(text).toMatch(/^varve_leading 1$/m);
  expect(server.output().match(/Metrics and health/g)).toHaveLength(1);
  expect(server.output().match(/Varve serves/g)).toHaveLength(1);
  expect(await server.stop()).toMatchObject({ code: 0, signal: null });
}, 300_000);

it.each(['building', 'getting ready', 'replaced'])(
  'ends with 0 when it is stopped while the next process is %s',
  LONG,
  async (phase) => {
    const server = await serverWithDocuments();
    const [first = 0] = workers(server);
    const running = rebuild(server, ...(phase === 'building' ? ['--max-rate', '4'] : []));
    if (phase === 'building') while (childrenOf(first).length === 0) await delay(2);
    else await nextWorker(server);
    const all = () => [...workers(server), ...childrenOf(first)];
    const seen = all();
    if (phase === 'replaced')
      while (!/another process serves/.test(server.output()) && isRunning(first)) await delay(1);
    expect(await server.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
    await running.exited;
    while (seen.some(isRunning)) await delay(10);
    const again = await startForTest({ data: server.data });
    expect(await names(again.url)).toEqual(['a', 'b', 'c']);
  },
);

it(
  'continues when the next process is killed, removes its generation, and another rebuild serves later',
  LONG,
  async () => {
    const server = await serverWithDocuments();
    const [first = 0] = workers(server);
    const running = rebuild(server);
    process.kill(await nextWorker(server), 'SIGKILL');
    const { code, output } = await running.exited;
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining(
        'generation 2 is not served: the process that should serve it was ended by SIGKILL',
      ),
    });
    expect(workers(server)).toEqual([first]);
    expect(await create(server.url, 'd')).toBe(201);
    expect(generationFiles(server)).toEqual(['graph.db']);
    expect((await rebuild(server).exited).output).toContain('generation 3 is live');
    expect(await names(server.url)).toEqual(['a', 'b', 'c', 'd']);
  },
);

it('is replaced, even if it is killed while the next process gets ready', LONG, async () => {
  const server = await serverWithDocuments();
  const [first = 0] = workers(server);
  const running = rebuild(server);
  await nextWorker(server);
  process.kill(first, 'SIGKILL');
  expect((await running.exited).output).toContain('generation 2 is live');
  expect(await names(server.url)).toEqual(['a', 'b', 'c']);
  expect(await create(server.url, 'd')).toBe(201);
  expect(await server.stop()).toMatchObject({ code: 0 });
});

it('kills a paused process when another one should serve', LONG, async () => {
  const server = await serverWithDocuments();
  const [first = 0] = workers(server);
  const running = rebuild(server);
  await nextWorker(server);
  process.kill(first, 'SIGSTOP');
  await replaced(server, first);
  expect(await names(server.url)).toEqual(['a', 'b', 'c']);
  expect(await create(server.url, 'd')).toBe(201);
  await running.exited;
});

it(
  'continues while the next process is paused, and gives the hand-over up some seconds later',
  LONG,
  async () => {
    const server = await serverWithDocuments();
    const [first = 0] = workers(server);
    const running = rebuild(server);
    const next = await nextWorker(server);
    process.kill(next, 'SIGSTOP');
    expect(await create(server.url, 'd')).toBe(201);
    const { code, output } = await running.exited;
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('generation 2 is not served'),
    });
    await expect
      .poll(() => [isRunning(next), workers(server), generationFiles(server)])
      .toEqual([false, [first], ['graph.db']]);
    expect((await rebuild(server).exited).output).toContain('is live');
  },
);

it(
  'a rebuild is cancelled while the next process gets ready: that process ends, and nothing is left',
  LONG,
  async () => {
    const server = await serverWithDocuments();
    const [first = 0] = workers(server);
    const running = rebuild(server);
    const next = await nextWorker(server);
    process.kill(next, 'SIGSTOP');
    const cancelled = await runVarve(['rebuild', '--cancel', '--data', server.data]);
    expect(cancelled).toMatchObject({ code: 0, stdout: 'the rebuild was cancelled\n' });
    expect((await running.exited).output).toContain('an operator cancelled the rebuild');
    await expect
      .poll(() => [isRunning(next), workers(server), generationFiles(server)])
      .toEqual([false, [first], ['graph.db']]);
  },
);

it('starts another process when neither of the two can serve', LONG, async () => {
  const server = await serverWithDocuments();
  const [first = 0] = workers(server);
  const running = rebuild(server);
  const next = await nextWorker(server);
  process.kill(first, 'SIGSTOP');
  // The old worker is gone and the new one looks for the leader when it is killed.
  while (workers(server).includes(first)) await delay(2);
  process.kill(next, 'SIGKILL');
  await replaced(server, next);
  expect(await names(server.url)).toEqual(['a', 'b', 'c']);
  expect(await create(server.url, 'd')).toBe(201);
  await running.exited;
  expect(await server.stop()).toMatchObject({ code: 0 });
});

it('ends within its time limit if a process that should stop is paused', LONG, async () => {
  const server = await serverWithDocuments({ arguments: ['--drain-seconds', '0'] });
  const [first = 0] = workers(server);
  process.kill(first, 'SIGSTOP');
  expect(await server.stop('SIGTERM')).toMatchObject({ code: 1 });
  expect(isRunning(first)).toBe(false);
});

it('continues a rebuild whose process was killed', LONG, async () => {
  const server = await serverWithDocuments();
  const [first = 0] = workers(server);
  const running = rebuild(server, '--max-rate', '1', '--json');
  while (childrenOf(first).length === 0) await delay(2);
  await new Promise<void>((resolve) => running.child.stdout?.once('data', () => resolve()));
  process.kill(childrenOf(first)[0] ?? 0, 'SIGKILL');
  const { code, output } = await running.exited;
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringContaining('ended unexpectedly: it exited with SIGKILL'),
  });
  const status = async () => (await runVarve(['status', '--data', server.data])).stdout;
  await expect
    .poll(status, { timeout: 30_000, interval: 1_000 })
    .toContain('The rebuild of generation 2 has stopped: its process has ended');
  expect((await rebuild(server).exited).output).toContain('generation 2 is live');
});

it(
  'all processes end with the supervisor, and the next start finds every acknowledged write',
  LONG,
  async () => {
    const server = await serverWithDocuments();
    const load = startHandOverLoad(server.url, CLIENTS);
    const running = rebuild(server);
    const next = await nextWorker(server);
    const [first = 0] = workers(server);
    process.kill(server.supervisor, 'SIGKILL');
    await load.stop();
    // The command continues by itself.
    await running.exited;
    const again = await startForTest({ data: server.data });
    expect([first, next].some(isRunning)).toBe(false);
    expect(await names(again.url)).toEqual(expect.arrayContaining(['a', 'b', 'c', ...load.written]));
  },
);

/** Creates a folder whose link `current` leads to the installed program. `install` replaces the program by another version. */
function installed(): { readonly folder: string; install(change?: (protocol: string) => string): void } {
  const folder = mkdtempSync(join(tmpdir(), 'varve-installed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = resolve(import.meta.dirname, '../..');
  let count = 0;
  return {
    folder,
    install(change = (protocol) => protocol) {
      const release = join(folder, `release-${++count}`);
      mkdirSync(release);
      for (const name of ['services', 'shared', 'projections', 'package.json'])
        cpSync(join(root, name), join(release, name), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(release, 'node_modules'));
      const file = join(release, 'services/supervisor/protocol.ts');
      writeFileSync(file, change(readFileSync(file, 'utf8')));
      symlinkSync(release, join(folder, 'next'));
      renameSync(join(folder, 'next'), join(folder, 'current'));
    },
  };
}

it('starts the newly installed program on SIGHUP, unless both cannot run at once', LONG, async () => {
  const program = installed();
  program.install();
  const server = await serverWithDocuments({
    program: join(program.folder, 'current/services/cli/varve.ts'),
  });
  const [first = 0] = workers(server);
  program.install();
  const load = startHandOverLoad(server.url, CLIENTS);
  process.kill(server.supervisor, 'SIGHUP');
  await replaced(server, first);
  const [second = 0] = workers(server);
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(readFileSync(`/proc/${second}/cmdline`, 'utf8')).toContain('current');
  program.install((protocol) => protocol.replace(/const PROTOCOL = \d+;/, 'const PROTOCOL = 0;'));
  process.kill(server.supervisor, 'SIGHUP');
  await expect
    .poll(server.output, { timeout: 60_000 })
    .toContain('cannot run at the same time: restart the server');
  expect(workers(server)).toEqual([second]);
  expect(await create(server.url, 'd')).toBe(201);
});

it('distinguishes releases with different log formats', () => {
  expect(COMPATIBILITY.split('.')[1]).toBe(String(LOG_MIGRATIONS.length));
});
