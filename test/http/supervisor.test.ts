import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { DirectoryHolder } from '../../shared/sqlite/lock-data-directory.ts';
import { createAsk } from '../support/access-client.ts';
import { askOnce } from '../support/ask-once.ts';
import { PLANTED_IO_ERROR } from '../support/plant-io-error.ts';
import { isRunning } from '../support/processes.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, type RunningServer } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of crashes in a row. */
const CRASHES = 10;

function workerOf(server: RunningServer): number {
  const pid = server.worker();
  if (pid === undefined) throw new Error(`no process serves:\n${server.output()}`);
  return pid;
}

/** Waits until a process other than `before` serves. */
async function replacementOf(server: RunningServer, before: number): Promise<number> {
  for (;;) {
    const pid = server.worker();
    if (pid !== undefined && pid !== before) return pid;
    await delay(5);
  }
}

function holderOf({ data }: RunningServer): DirectoryHolder {
  return JSON.parse(readFileSync(join(data, 'lock.json'), 'utf8')) as DirectoryHolder;
}

/** Creates a restaurant with this name. Returns the answer's status. */
async function create(url: string, name: string): Promise<number> {
  const { status } = await askOnce(
    `${url}/api/restaurants`,
    'POST',
    JSON.stringify({ data: { key: name, name } }),
  );
  return status;
}

async function names(url: string): Promise<readonly string[]> {
  const answer = await askOnce(`${url}/api/restaurants?pagination[limit]=100&sort=name&fields=name`);
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.text) as { data: { name: string }[] }).data.map(({ name }) => name);
}

it(
  'answers connections that arrive while no worker serves, once the next one does',
  takesMinutes('workers that cannot start'),
  async () => {
    const server = await startForTest();
    for (const [round, name] of ['a', 'b'].entries()) {
      const killed = workerOf(server);
      process.kill(killed, 'SIGKILL');
      // A worker that still runs could accept a connection and lose it.
      await expect.poll(() => isRunning(killed), { interval: 2 }).toBe(false);
      const answers = [create(server.url, name), names(server.url), askOnce(`${server.url}/health/live`)];
      const [status] = await Promise.all(answers);
      expect(status).toBe(201);
      expect(await names(server.url)).toHaveLength(round + 1);
      expect(workerOf(server)).not.toBe(killed);
    }
    expect(await names(server.url)).toEqual(['a', 'b']);
    expect(server.output().match(/Varve serves/g)).toHaveLength(1);
    expect(server.output().match(/worker crashed/g)).toHaveLength(2);
    expect((await server.stop()).code).toBe(0);
  },
);

it(
  'keeps the address and secret of operators, and the port of metrics, when a worker is killed',
  takesMinutes('workers that are killed'),
  async () => {
    const server = await startForTest({ arguments: ['--metrics-port', '0'] });
    const metrics = /Metrics and health are at (\S+)/.exec(server.output())?.[1];
    const before = holderOf(server);
    expect(before.pid).toBe(server.supervisor);
    process.kill(workerOf(server), 'SIGKILL');
    const { code, stdout, stderr } = await runVarve(['status', '--json', '--data', server.data]);
    expect(code, stderr).toBe(0);
    expect((JSON.parse(stdout) as { server: { pid: number } }).server.pid).toBe(server.supervisor);
    expect(holderOf(server)).toEqual(before);
    const answer = await fetch(`${metrics}/metrics`);
    expect(await answer.text()).toMatch(/^varve_worker_restarts 1$/m);
  },
);

it('takes its workers with it when it is killed, and the next start finds every acknowledged write', async () => {
  const first = await startForTest();
  const worker = workerOf(first);
  const written: string[] = [];
  let isKilled = false;
  const writer = async (number: number) => {
    for (let i = 0; !isKilled; i++) {
      const status = await create(first.url, `${number}-${i}`).catch(() => undefined);
      if (status === 201) written.push(`${number}-${i}`);
      if (written.length >= 40 && !isKilled) {
        isKilled = true;
        process.kill(first.supervisor, 'SIGKILL');
      }
    }
  };
  await Promise.all([writer(1), writer(2), writer(3)]);
  const second = await startForTest({ data: first.data });
  expect(isRunning(worker)).toBe(false);
  expect(await names(second.url)).toEqual(expect.arrayContaining(written));
});

it(
  'handles signals that the worker gets too, for example after Ctrl-C',
  takesMinutes('signals to a worker'),
  async () => {
    const server = await startForTest();
    const worker = workerOf(server);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(worker, signal);
    expect(await create(server.url, 'a')).toBe(201);
    expect(workerOf(server)).toBe(worker);
    process.kill(worker, 'SIGINT');
    expect(await server.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
  },
);

it(
  'restarts a worker that crashes repeatedly, after short pauses',
  takesMinutes('workers that crash repeatedly'),
  async () => {
    const server = await startForTest();
    let killed = workerOf(server);
    process.kill(killed, 'SIGKILL');
    for (let crash = 2; crash <= CRASHES; crash++) {
      killed = await replacementOf(server, killed);
      process.kill(killed, 'SIGKILL');
    }
    while (server.output().match(/worker crashed/g)?.length !== CRASHES) await delay(5);
    // A pause of 10 s would make this request wait for longer than a start takes.
    expect(await create(server.url, 'a')).toBe(201);
    expect(await server.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  },
);

it(
  'ends with 0 when it is stopped in a pause before the next worker',
  takesMinutes('a stop in a pause'),
  async () => {
    const server = await startForTest();
    for (let killed = 0, crashes = 1; ; crashes++) {
      killed = await replacementOf(server, killed);
      process.kill(killed, 'SIGKILL');
      while (server.output().match(/worker crashed/g)?.length !== crashes) await delay(1);
      if (server.worker() !== undefined) continue;
      expect(await server.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
      return;
    }
  },
);

it(
  'ends with 0 when it is stopped while a replacement worker starts',
  takesMinutes('a stop while a worker starts'),
  async () => {
    const server = await startForTest();
    const killed = workerOf(server);
    process.kill(killed, 'SIGKILL');
    await replacementOf(server, killed);
    expect(await server.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  },
);

it(
  'starts no other worker when the last one reported why it cannot continue',
  takesMinutes('a worker that cannot continue'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-schema-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
    const server = await startForTest({ contentTypes: folder });
    rmSync(folder, { recursive: true });
    process.kill(workerOf(server), 'SIGKILL');
    const { code, output } = await server.exited;
    expect(output).toMatch(/^varve serve: .*varve-schema-/m);
    expect(code).toBe(1);
    expect(output.match(/worker crashed/g)).toHaveLength(1);
  },
);

it('starts another worker when the last one ended for a reason that may pass', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-once-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const once = join(folder, 'once');
  writeFileSync(once, '');
  const plant = fileURLToPath(new URL('../support/plant-io-error.ts', import.meta.url));
  const env = { NODE_OPTIONS: `--import=${plant}`, PLANTED_ONCE: once, CRASH_REPORTS: '' };
  const server = await startForTest({ env });
  const failed = workerOf(server);
  // The connection is lost with the worker, and the write is stored.
  await create(server.url, PLANTED_IO_ERROR).catch(() => {});
  await replacementOf(server, failed);
  expect(existsSync(once)).toBe(false);
  expect(await names(server.url)).toEqual([PLANTED_IO_ERROR]);
  expect(server.output()).toContain('the server cannot continue');
});

it(
  'starts another worker after one that could not start, on the same addresses',
  takesMinutes('workers that cannot start'),
  async () => {
    const server = await startForTest({ arguments: ['--metrics-port', '0'] });
    await create(server.url, 'a');
    const record = join(server.data, 'generations.db');
    renameSync(record, `${record}.away`);
    mkdirSync(record);
    const before = workerOf(server);
    process.kill(before, 'SIGKILL');
    await expect.poll(server.output, { timeout: 30_000 }).toContain('cannot open the database');
    rmdirSync(record);
    renameSync(`${record}.away`, record);
    await expect.poll(() => names(server.url).catch(String), { timeout: 30_000 }).toEqual(['a']);
    const [, metrics] = /Metrics and health are at (http:\S+)/.exec(server.output()) ?? [];
    expect((await fetch(`${metrics}/health/ready`)).status).toBe(200);
    const { code, stderr } = await runVarve(['status', '--data', server.data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  },
);

it(
  'waits for a worker that briefly outlives its supervisor',
  takesMinutes('a worker that outlives its supervisor'),
  async () => {
    const first = await startForTest();
    const worker = workerOf(first);
    process.kill(worker, 'SIGSTOP');
    process.kill(first.supervisor, 'SIGKILL');
    const starting = startForTest({ data: first.data });
    await delay(500);
    process.kill(worker, 'SIGCONT');
    const second = await starting;
    expect(await createAsk(second.url)('/_health')).toMatchObject({ status: 204 });
  },
);
